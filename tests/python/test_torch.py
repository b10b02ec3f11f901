"""semicrf.torch against all segmentations of tiny sequences, and against PyTorch's own ways of checking a layer."""

import copy
import math
import os
import tempfile
import threading
import unittest

import numpy as np
import torch
from enumeration import NAMES, SEED, Truth, cases, statistics
from torch import nn

import semicrf
import semicrf.torch as layer


def tensors(tables, dtype=torch.float64, device="cpu"):
    """The tables of enumeration.py as tensors by name; the tail as its logarithm."""
    found = {}
    for name in NAMES:
        value = tables.get(name)
        if value is None:
            continue
        if name == "tail":
            with np.errstate(divide="ignore"):
                value = np.log(value)
        found[name] = torch.tensor(value, dtype=dtype, device=device)
    return found


def options(tables, starts, ends, dtype=torch.float64, device="cpu"):
    found = {"initial": tables["initial"], "centering": tables["centering"]}
    for name, value in (("start_scores", starts), ("end_scores", ends)):
        if value is not None:
            found[name] = torch.tensor(value[None], dtype=dtype, device=device)
    return found


class Enumeration(unittest.TestCase):
    device = "cpu"

    def near(self, found, truth, tolerance, what):
        np.testing.assert_allclose(found.detach().cpu().numpy(), truth, rtol=tolerance, atol=tolerance, err_msg=what)

    def test_log_partition_gradients_and_marginals(self):
        for tables, scores, starts, ends, truth in cases(60):
            for dtype, tolerance in ((torch.float64, 1e-10), (torch.float32, 1e-5)):
                if dtype == torch.float32:
                    truth = Truth({name: value.astype(np.float32).astype(float) if name in NAMES[:2] else value
                                   for name, value in tables.items()}, scores.astype(np.float32),
                                  *[None if one is None else one.astype(np.float32).astype(float) for one in (starts, ends)])
                given, how = tensors(tables, dtype, self.device), options(tables, starts, ends, dtype, self.device)
                values = torch.tensor(scores[None], dtype=dtype, device=self.device)
                leaves = {**given, **{name: how[name] for name in ("start_scores", "end_scores") if name in how}, "scores": values}
                for leaf in leaves.values():
                    leaf.requires_grad_()
                log_z = layer.log_partition(values, **given, **how)
                self.near(log_z, [truth.log_z], tolerance, "log Z")
                self.near(layer.log_partition(values.detach(), **{n: t.detach() for n, t in given.items()},
                                              **{n: t.detach() if isinstance(t, torch.Tensor) else t for n, t in how.items()}),
                          [truth.log_z], tolerance, "log Z alone")
                log_z.sum().backward()
                boundary, *posteriors, transition, duration, tail = truth.posteriors()
                expected = dict(zip(("scores", "start_scores", "end_scores"), posteriors))
                expected.update(transition=transition, duration=duration, tail=tail, start=posteriors[0][0], end=posteriors[0][-1])
                found = layer.marginals(values, **given, **how)
                for name, one in (("labels", posteriors[0]), ("starts", posteriors[1]), ("ends", posteriors[2]),
                                  ("transition", transition), ("duration", duration), ("tail", tail)):
                    self.near(getattr(found, name)[0], one, tolerance, name)
                if tables["centering"] != "none":
                    del expected["scores"]  # by uncentred scores; gradcheck below
                for name, leaf in leaves.items():
                    if name in expected:
                        self.near(leaf.grad[0] if name.endswith("scores") else leaf.grad, expected[name], tolerance, name)

    def test_second_derivatives(self):
        rng = np.random.default_rng(SEED)
        for tables, scores, starts, ends, truth in cases(40, SEED + 1):
            tables = {**tables, "centering": "none"}
            truth = Truth(tables, scores, starts, ends)
            given, how = tensors(tables, device=self.device), options(tables, starts, ends, device=self.device)
            values = torch.tensor(scores[None], dtype=torch.float64, device=self.device)
            leaves = {**given, **{name: how[name] for name in ("start_scores", "end_scores") if name in how}, "scores": values}
            for leaf in leaves.values():
                leaf.requires_grad_()
            first = torch.autograd.grad(layer.log_partition(values, **given, **how).sum(), list(leaves.values()), create_graph=True)
            along = {name: rng.normal(size=tuple(leaf.shape)) for name, leaf in leaves.items()}
            total = sum((torch.tensor(along[name], device=self.device) * one).sum() for name, one in zip(leaves, first))
            second = torch.autograd.grad(total, list(leaves.values()))
            mean, product, mean_along = {}, {}, 0.0
            for p, count in statistics(truth):
                sizes = {name: count[name][None] if name.endswith("scores") else count[name] for name in leaves}
                moved = sum((along[name] * sizes[name]).sum() for name in leaves)
                mean_along += p * moved
                for name in leaves:
                    mean[name] = mean.get(name, 0) + p * sizes[name]
                    product[name] = product.get(name, 0) + p * moved * sizes[name]
            for name, found in zip(leaves, second):
                self.near(found, product[name] - mean_along * mean[name], 1e-10, name)

    def test_entropy_and_its_gradient(self):
        for tables, scores, starts, ends, truth in cases(25, SEED + 2):
            module = self.module_of(tables, starts, ends)
            boundaries = {name: one for name, one in options(tables, starts, ends, device=self.device).items() if name.endswith("scores")}
            values = torch.tensor(scores[None], device=self.device, requires_grad=True)
            found = module.entropy(values, **boundaries)
            self.near(found, [truth.entropy()], 1e-9, "entropy")
            gradient, = torch.autograd.grad(found.sum(), values)
            for t, c in ((0, 0), (len(scores) - 1, scores.shape[1] - 1)):
                entropies = []
                for step in (1e-5, -1e-5):
                    moved = scores.copy()
                    moved[t, c] += step
                    entropies.append(Truth(tables, moved, starts, ends).entropy())
                self.near(gradient[0, t, c], (entropies[0] - entropies[1]) / 2e-5, 1e-6, "gradient of the entropy")

    def module_of(self, tables, starts, ends):
        durations, count = tables["duration"].shape
        boundary = {(0, 0): "none", (1, 0): "start", (0, 1): "end", (1, 1): "both"}[(starts is not None, ends is not None)]
        module = layer.SemiCRF(count, durations, tail=tables["tail"] is not None, boundary=boundary, self_transitions=True,
                               initial=tables["initial"], centering=tables["centering"]).double()
        module.load_model(semicrf.Model(**{name: value for name, value in tables.items()
                                           if not (name == "tail" and value is not None and not value.any())})
                          if tables["tail"] is None or tables["tail"].any() else self.with_tail(tables))
        return module.to(self.device)

    @staticmethod
    def with_tail(tables):
        model = semicrf.Model(**{**tables, "tail": None})
        model._tables["tail"] = tables["tail"]
        return model

    def test_scores_and_answers(self):
        for tables, scores, starts, ends, truth in cases(30, SEED + 3):
            module = self.module_of(tables, starts, ends)
            boundaries = {name: one for name, one in options(tables, starts, ends, device=self.device).items() if name.endswith("scores")}
            values = torch.tensor(scores[None], device=self.device)
            for path, score in truth.paths[:: max(1, len(truth.paths) // 6)]:
                self.near(module.score(values, [np.array(path)], **boundaries), [score], 1e-9, "score")
                loss = module.loss(values, [np.array(path)], reduction="none", **boundaries)
                self.near(loss, [truth.log_z - score], 1e-9, "loss")
            best = module.decode(values, **boundaries)[0]
            ranked = module.k_best(values, 4, **boundaries)[0]
            self.assertEqual(best.segments.tolist(), ranked[0].segments.tolist())
            probabilities = dict(zip((path for path, _ in truth.paths), truth.probabilities))
            for one in ranked + module.sample(values, 3, seed=5, **boundaries)[0]:
                path = tuple(map(tuple, one.segments.tolist()))
                self.assertAlmostEqual(math.exp(one.log_probability), probabilities[path], places=8)


class Layer(unittest.TestCase):
    device = "cpu"

    def problem(self, batch=3, positions=9, labels=3, durations=4, dtype=torch.float64):
        torch.manual_seed(SEED)
        scores = torch.randn(batch, positions, labels, dtype=dtype, device=self.device)
        return scores, torch.randn(labels, labels, dtype=dtype, device=self.device), torch.randn(durations, labels, dtype=dtype, device=self.device)

    def test_gradcheck(self):
        scores, transition, duration = self.problem()
        tail = torch.tensor([-0.5, -1.0, -torch.inf], dtype=torch.float64)
        lengths = torch.tensor([9, 4, 1])
        start, end = torch.randn(2, 3, dtype=torch.float64, device=self.device)
        boundaries = torch.randn(2, *scores.shape, dtype=torch.float64, device=self.device)
        for centering in ("none", "mean", "position-max"):
            def log_z(*given):
                return layer.log_partition(given[0], given[1], given[2], tail.to(self.device), given[3], given[4], lengths=lengths,
                                           start_scores=given[5], end_scores=given[6], centering=centering)
            given = [one.clone().requires_grad_() for one in (scores, transition, duration, start, end, *boundaries)]
            self.assertTrue(torch.autograd.gradcheck(log_z, given))
            self.assertTrue(torch.autograd.gradgradcheck(log_z, given))

    @unittest.skipUnless(hasattr(torch.library, "opcheck"), "this PyTorch has no opcheck (2.4)")
    def test_opcheck(self):
        scores, transition, duration = (one.requires_grad_() for one in self.problem(2, 5))
        lengths = torch.tensor([5, 3])
        for starts in (None, torch.randn_like(scores).requires_grad_()):
            arguments = (scores, starts, None, transition, duration, None, None, None, lengths, True, True, starts is not None, False, 1)
            torch.library.opcheck(torch.ops.semicrf.forward_backward.default, arguments)
        plain = [one.detach() for one in (scores, transition, duration)]
        torch.library.opcheck(torch.ops.semicrf.hessian_product.default, (
            plain[0], None, None, plain[1], plain[2], None, None, None, lengths, True, 1, torch.randn_like(plain[0]), None, None, None))

    @unittest.skipUnless(hasattr(torch.library, "custom_op"), "this PyTorch has no custom operators (2.4)")
    def test_compile(self):
        module = layer.SemiCRF(3, 4, durations="negative-binomial").to(self.device)
        scores = torch.randn(2, 7, 3, device=self.device)
        labels = torch.tensor([[0, 0, 1, 1, 2, 2, 0], [1, 1, 1, 2, 0, 0, 0]], device=self.device)
        compiled = torch.compile(lambda given: module.loss(given, labels), backend="aot_eager", fullgraph=True)
        gradients = []
        for loss in (compiled, lambda given: module.loss(given, labels)):
            module.zero_grad()
            value = loss(scores)
            value.backward()
            gradients.append([value.detach()] + [one.grad.clone() for one in module.parameters()])
        for one, other in zip(*gradients):
            torch.testing.assert_close(one, other)

    def test_padding_and_batches_change_nothing(self):
        scores, transition, duration = self.problem(dtype=torch.float32)
        lengths = [9, 4, 1]
        padded = scores.clone()
        for b, length in enumerate(lengths):
            padded[b, length:] = torch.nan if b == 1 else 1e30
        padded.requires_grad_()
        log_z = layer.log_partition(padded, transition, duration, lengths=lengths)
        log_z.sum().backward()
        for b, length in enumerate(lengths):
            alone = scores[b:b + 1, :length].clone().requires_grad_()
            one = layer.log_partition(alone, transition, duration)
            one.sum().backward()
            self.assertEqual(one.item(), log_z[b].item())
            self.assertTrue(torch.equal(alone.grad[0], padded.grad[b, :length]))
            self.assertTrue(torch.equal(padded.grad[b, length:], torch.zeros(9 - length, 3, device=self.device)))

    def test_weights_of_sequences(self):
        """Losses that weigh sequences differently, and other strides."""
        scores, transition, duration = self.problem()
        strided = scores.transpose(0, 1).contiguous().transpose(0, 1)
        weights = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
        transition.requires_grad_()
        (weights * layer.log_partition(strided, transition, duration).cpu()).sum().backward()
        expected = torch.zeros_like(transition)
        for b in range(3):
            counts = layer.marginals(scores[b:b + 1], transition.detach(), duration).transition[0]
            expected += weights[b] * counts.to(expected)
        torch.testing.assert_close(transition.grad, expected)

    def test_half_and_bfloat16(self):
        scores, transition, duration = self.problem(dtype=torch.float32)
        for dtype in (torch.float16, torch.bfloat16):
            given = scores.to(dtype).requires_grad_()
            log_z = layer.log_partition(given, transition, duration)
            log_z.sum().backward()
            self.assertEqual(given.grad.dtype, dtype)
            self.assertTrue(torch.equal(log_z, layer.log_partition(given.detach().float(), transition, duration)))

    def test_what_is_impossible(self):
        scores, transition, duration = self.problem()
        scores[1, 2] = -torch.inf
        scores.requires_grad_()
        log_z = layer.log_partition(scores, transition, duration)
        self.assertEqual(log_z[1].item(), -math.inf)
        log_z[[0, 2]].sum().backward()
        self.assertTrue(torch.isfinite(scores.grad).all())
        self.assertEqual(scores.grad[1].abs().sum().item(), 0)
        module = layer.SemiCRF(3, 2).double().to(self.device)
        long = torch.zeros(1, 9, dtype=torch.int64, device=self.device)
        self.assertEqual(module.loss(self.problem()[0][:1], long).item(), math.inf)

    def test_learning(self):
        """A loss falls, and the command reads what was learned."""
        torch.manual_seed(3)
        labels = torch.tensor([[0] * 5 + [1] * 7 + [0] * 4 + [2] * 8] * 4)
        features = functional_one_hot(labels) + 0.3 * torch.randn(4, 24, 3)
        network = nn.Sequential(nn.Linear(3, 3))
        crf = layer.SemiCRF(3, 10, durations="negative-binomial", tail=True, min_duration=2)
        optimiser = torch.optim.Adam([*network.parameters(), *crf.parameters()], lr=0.1)
        losses = []
        for _ in range(60):
            optimiser.zero_grad()
            loss = crf.loss(network(features), labels)
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
        self.assertLess(losses[-1], 0.1 * losses[0])
        scores = network(features).detach()
        self.assertEqual(crf.decode(scores)[0].at_positions().tolist(), labels[0].tolist())
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.json")
            crf.to_model(["a", "b", "c"]).save(path)
            again = semicrf.Model.read(path)
        self.assertEqual(again.decode(scores[0].numpy()).segments.tolist(), crf.decode(scores[:1])[0].segments.tolist())
        copied = layer.SemiCRF(3, 10, tail=True)
        copied.load_model(again)
        torch.testing.assert_close(copied.log_partition(scores), crf.log_partition(scores), rtol=1e-6, atol=1e-4)

    def test_laws(self):
        for kind, tail in (("geometric", True), ("negative-binomial", False), ("table", True)):
            module = layer.SemiCRF(2, 400, durations=kind, tail=tail).double()
            if kind == "table":
                continue
            with torch.no_grad():
                module.duration_log_odds.copy_(torch.tensor([0.5, 1.5]))
            torch.testing.assert_close(module.duration().exp().sum(0), torch.ones(2, dtype=torch.float64), rtol=1e-9, atol=1e-9)

    def test_state_dict_copies_and_pickles(self):
        module = layer.SemiCRF(3, 5, tail=True)
        other = copy.deepcopy(module)
        other.load_state_dict(module.state_dict())
        scores = self.problem(dtype=torch.float32)[0].cpu()
        self.assertTrue(torch.equal(module(scores), other(scores)))

    @unittest.skipUnless(torch.distributed.is_available(), "this PyTorch has no torch.distributed")
    def test_distributed(self):
        """Two processes with half of a batch each have the gradient of the whole batch."""
        if self.device != "cpu":
            self.skipTest("gloo is for the processor")
        loss, *data = trained_together()
        loss(*data).backward()
        with tempfile.TemporaryDirectory() as folder:
            torch.multiprocessing.spawn(half_of_a_batch, (folder,), nprocs=2)
            for rank in range(2):
                found = torch.load(os.path.join(folder, f"{rank}.pt"))
                self.assertEqual(len(found), 6)
                for name, one in loss.named_parameters():
                    torch.testing.assert_close(found["module." + name], one.grad, msg=name)

    def test_threads(self):
        scores, transition, duration = self.problem(4, 50)
        expected = layer.log_partition(scores, transition, duration)
        failures = []

        def work(shift):
            for _ in range(20):
                moved = layer.log_partition(scores + shift, transition, duration)
                if not torch.allclose(moved, expected + 50 * shift):
                    failures.append(shift)

        threads = [threading.Thread(target=work, args=(0.1 * i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_mistakes_are_named(self):
        scores, transition, duration = self.problem()
        module = layer.SemiCRF(3, 4).double()
        bad = scores.clone()
        bad[1, 3, 2] = torch.nan
        for text, call in [
                ("scores: the shape", lambda: layer.log_partition(scores[0], transition, duration)),
                ("scores: .*expected floating-point", lambda: layer.log_partition(scores.long(), transition, duration)),
                ("transition: the shape", lambda: layer.log_partition(scores, transition[:2], duration)),
                ("duration: the shape", lambda: layer.log_partition(scores, transition, duration[:, :2])),
                ("start_scores: the shape", lambda: layer.log_partition(scores, transition, duration, start_scores=scores[:2])),
                ("lengths: from 0", lambda: layer.log_partition(scores, transition, duration, lengths=[0, 1, 2])),
                ("lengths: from 1 to 10", lambda: layer.log_partition(scores, transition, duration, lengths=[10, 1, 2])),
                ("lengths: the shape", lambda: layer.log_partition(scores, transition, duration, lengths=[9])),
                ("initial", lambda: layer.log_partition(scores, transition, duration, initial="some")),
                ("centering", lambda: layer.log_partition(scores, transition, duration, centering="some")),
                ("sequence 1.*3" if self.device == "cpu" else "scores: a value is NaN", lambda: layer.log_partition(bad, transition, duration)),
                ("transition: entry 0 is nan", lambda: layer.log_partition(scores, transition * torch.nan, duration)),
                ("start_scores: given", lambda: module(scores, start_scores=scores)),
                ("start_scores: missing", lambda: layer.SemiCRF(3, 4, boundary="both")(scores)),
                ("reduction", lambda: module.loss(scores, torch.zeros(3, 9), reduction="some")),
                ("labels: the shape", lambda: module.loss(scores, torch.zeros(3, 8))),
                ("labels: 1 segmentations", lambda: module.loss(scores, [[(0, 9, 1)]])),
                ("labels: segment .*sequence 0", lambda: module.loss(scores, [[(0, 10, 1)]] * 3)),
                ("end at 4", lambda: module.loss(scores, [[(0, 4, 1)]] * 3)),
                ("durations", lambda: layer.SemiCRF(3, 4, durations="poisson")),
                ("min_duration", lambda: layer.SemiCRF(3, 4, min_duration=5))]:
            with self.subTest(text=text):
                self.assertRaisesRegex(ValueError, text, call)
        self.assertEqual(layer.log_partition(scores[:0], transition, duration).shape, (0,))


def trained_together():
    """A network whose output is its loss; signal and labels of four sequences."""
    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = nn.Linear(2, 3)
            self.crf = layer.SemiCRF(3, 5, threads=1)

        def forward(self, signal, labels):
            return self.crf.loss(self.encoder(signal), labels)

    torch.manual_seed(SEED)
    labels = torch.arange(4)[:, None] + torch.tensor([0, 0, 0, 1, 1, 2, 2, 2, 2])
    return Network(), torch.randn(4, 9, 2), labels % 3


def half_of_a_batch(rank, folder):
    torch.distributed.init_process_group("gloo", init_method="file://" + os.path.join(folder, "store"), rank=rank, world_size=2)
    loss, signal, labels = trained_together()
    parallel = nn.parallel.DistributedDataParallel(loss)
    parallel(signal[2 * rank:2 * rank + 2], labels[2 * rank:2 * rank + 2]).backward()
    torch.save({name: one.grad for name, one in parallel.named_parameters()}, os.path.join(folder, f"{rank}.pt"))
    torch.distributed.destroy_process_group()


def functional_one_hot(labels):
    return nn.functional.one_hot(labels, 3).float()


if torch.cuda.is_available():
    class CudaEnumeration(Enumeration):
        device = "cuda"

    class CudaLayer(Layer):
        device = "cuda"


if __name__ == "__main__":
    unittest.main()
