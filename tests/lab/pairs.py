"""Boundaries of two segmentations, one against the other."""


def pairs_within(left, right, tolerance):
    """The largest number of pairs at most `tolerance` apart; both sorted, each number in one pair."""
    i = j = count = 0
    while i < len(left) and j < len(right):
        if abs(left[i] - right[j]) <= tolerance:
            i, j, count = i + 1, j + 1, count + 1
        elif left[i] < right[j]:
            i += 1
        else:
            j += 1
    return count
