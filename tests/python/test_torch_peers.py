"""semicrf.torch against other packages of PyTorch: log Z and gradients of the same problems. Skipped where none is installed."""

import pathlib
import sys
import unittest

import torch

import semicrf.torch as layer

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lab" / "peers"))
TOLERANCE = dict(rtol=1e-6, atol=1e-6)


def has(package):
    try:
        __import__(package)
    except ImportError:
        return False
    return True


def problem(batch, positions, labels, durations):
    torch.manual_seed(7)
    return [torch.randn(*shape, dtype=torch.float64) for shape in ((batch, positions, labels), (labels, labels), (durations, labels))]


class Peers(unittest.TestCase):
    def compare(self, ours, theirs, inputs):
        """log Z, and its gradients by the inputs, of two functions of them."""
        found = []
        for function in (ours, theirs):
            leaves = [one.clone().requires_grad_() for one in inputs]
            log_z = function(*leaves)
            weights = torch.linspace(0.5, 1.5, len(log_z), dtype=torch.float64)
            found.append((log_z.detach().double(), *torch.autograd.grad((weights * log_z.double()).sum(), leaves)))
        for one, other in zip(*found):
            torch.testing.assert_close(one, other, **TOLERANCE)

    @unittest.skipUnless(has("flash_semicrf"), "flash-semicrf is not installed")
    def test_flash_semicrf(self):
        import torch_peers
        from flash_semicrf.streaming import semi_crf_streaming_forward

        def theirs(scores, transition, duration):
            given = torch_peers.Given(scores, transition, duration)
            lengths = torch.full((scores.shape[0],), scores.shape[1])
            return semi_crf_streaming_forward(given.sums(), transition, duration, lengths, duration.shape[0], use_triton=False)

        for shape in ((3, 20, 4, 6), (1, 50, 2, 3), (2, 9, 5, 12)):
            self.compare(layer.log_partition, theirs, problem(*shape))

    @unittest.skipUnless(has("torch_struct"), "torch-struct is not installed")
    def test_torch_struct(self):
        import torch_peers
        import torch_struct

        def theirs(scores, transition, duration):
            edges = torch_peers.Given(scores, transition, duration).edges(0)
            lengths = torch.full((scores.shape[0],), scores.shape[1] + 1)
            return torch_struct.SemiMarkovCRF(edges, lengths=lengths).partition

        self.compare(layer.log_partition, theirs, problem(2, 8, 3, 4))

    @unittest.skipUnless(has("torchcrf"), "pytorch-crf is not installed")
    def test_pytorch_crf(self):
        import torchcrf
        scores, transition, duration = problem(4, 12, 5, 1)
        lengths = torch.tensor([12, 7, 1, 10])
        labels = torch.randint(5, (4, 12))
        crf = torchcrf.CRF(5, batch_first=True).double()
        start, end = (one.detach().clone().requires_grad_() for one in (crf.start_transitions, crf.end_transitions))
        transition.requires_grad_()
        with torch.no_grad():
            crf.transitions.copy_(transition)
        mask = torch.arange(12)[None] < lengths[:, None]
        theirs = crf(scores, labels, mask=mask, reduction="none")
        given = dict(lengths=lengths, initial="none")
        tables = (transition, torch.zeros(1, 5, dtype=torch.float64), None, start, end)
        every = torch.ones_like(labels, dtype=torch.bool)
        ours = layer.path_score(scores, labels, *tables, starts=every, **given) - layer.log_partition(scores, *tables, **given)
        torch.testing.assert_close(ours, theirs, **TOLERANCE)
        theirs.sum().backward()
        ours.sum().backward()
        for one, other in ((transition, crf.transitions), (start, crf.start_transitions), (end, crf.end_transitions)):
            torch.testing.assert_close(one.grad, other.grad, **TOLERANCE)


if __name__ == "__main__":
    program = unittest.main(exit=False)
    result = program.result
    if result.testsRun == len(result.skipped):
        print("skipped: " + "; ".join(reason for _, reason in result.skipped))
        sys.exit(77)
    sys.exit(not result.wasSuccessful())
