"""Golden numbers for the formulas of a training step, worked out apart from the Rust code.

    python3 tests/golden/training.py > tests/golden/training.json

Written from the papers' formulas, as plainly as they stand there, with Python 3 alone. The tests in
src/trainer/tests/golden.rs hold the Rust code against what this prints.
"""
import json
import math
import statistics


# --- advantages -----------------------------------------------------------------------------------------
GROUPS = [
    [1, 0, 0, 0, 0, 0, 0, 0],
    [1, 1, 0, 1, 0, 0, 0, 1],
    [0.0, 0.975, 0.525, 0.0],
    [-1.0, 1.0],
    [0.1, 0.55, -0.8, 0.775, 0.775, -1.0],
]


def dr_grpo(rewards):
    mean = statistics.fmean(rewards)
    return [reward - mean for reward in rewards]


def grpo(rewards, eps=1e-4):
    mean, std = statistics.fmean(rewards), statistics.stdev(rewards)  # ddof=1
    return [(reward - mean) / (std + eps) for reward in rewards]


def rloo(rewards):
    total, others = sum(rewards), len(rewards) - 1
    return [reward - (total - reward) / others for reward in rewards]


def baseline(batches, decay=0.95):
    """An exponential mean of all rewards so far, corrected for its start at 0; a batch is measured against
    what was known before it."""
    mean, weight, out = 0.0, 0.0, []
    for batch in batches:
        known = mean / weight if weight else 0.0
        out.append([reward - known for reward in batch])
        for reward in batch:
            mean = decay * mean + (1 - decay) * reward
            weight = decay * weight + (1 - decay)
    return out


# --- one choice's loss ----------------------------------------------------------------------------------
def surrogate(log, old, sampled, advantage, low, high, dual, cap):
    """PPO's clipped loss with a dual clip, times a truncated importance weight.

    `old` is None: one update a batch, so the ratio is to the sampler and there is no further weight.
    The derivative is by `log`, the logarithm of the live probability."""
    ratio = math.exp(log - (sampled if old is None else old))
    weight = 1.0 if old is None else min(math.exp(old - sampled), cap)
    clipped = min(max(ratio, 1 - low), 1 + high)
    gain = min(ratio * advantage, clipped * advantage)
    slope = ratio * advantage if ratio * advantage <= clipped * advantage else 0.0
    if advantage < 0 and dual is not None and gain < dual * advantage:
        gain, slope = dual * advantage, 0.0
    return {"loss": -weight * gain, "slope": -weight * slope, "weight": weight, "ratio": ratio}


LOSSES = []
for old in (None, -2.0, -1.2):
    for log, sampled in ((-2.0, -2.0), (-1.7, -2.0), (-2.3, -2.0), (-0.5, -2.0), (-4.0, -2.0), (-1.1, -3.5)):
        for advantage in (0.875, -0.125, 0.0):
            case = {"log": log, "old": old, "sampled": sampled, "advantage": advantage,
                    "low": 0.2, "high": 0.28, "dual": 3.0, "cap": 2.0}
            LOSSES.append({**case, **surrogate(**case)})
for log in (-0.5, -1.1):
    case = {"log": log, "old": None, "sampled": -3.5, "advantage": -0.5,
            "low": 0.1, "high": 0.4, "dual": None, "cap": 2.0}
    LOSSES.append({**case, **surrogate(**case)})


# --- divergences ----------------------------------------------------------------------------------------
def divergences(log, reference):
    x = reference - log
    return {"log": log, "reference": reference, "k1": -x, "k2": x * x / 2, "k3": math.exp(x) - 1 - x,
            "k2_slope": -x}


# --- softmax, ordered draws, entropy --------------------------------------------------------------------
def ordered(logits, drawn):
    left, logs, entropies = list(range(len(logits))), [], []
    for option in drawn:
        total = math.fsum(math.exp(logits[i]) for i in left)
        p = {i: math.exp(logits[i]) / total for i in left}
        logs.append(math.log(p[option]))
        entropies.append(-math.fsum(q * math.log(q) for q in p.values()))
        left.remove(option)
    return {"logits": logits, "drawn": drawn, "logs": logs, "entropies": entropies}


# --- how much each choice counts ------------------------------------------------------------------------
def factors(lengths, kind, constant=20):
    """The factor of each choice of a rollout, by rollout."""
    if kind == "choice":  # DAPO: the mean over all choices of the step
        return [1 / sum(lengths)] * len(lengths)
    if kind == "rollout":  # GRPO: the mean of a rollout, then over rollouts
        return [1 / (length * len(lengths)) for length in lengths]
    return [1 / (constant * len(lengths))] * len(lengths)  # Dr. GRPO: the sum over a constant


# --- the optimiser --------------------------------------------------------------------------------------
def adam(gradients, lr=0.03, b1=0.9, b2=0.95, eps=1e-8, norm=1.0):
    """Weights of two parameters that start at 0.5 and -1; the gradient is clipped by its norm."""
    w, m, v, out = [0.5, -1.0], [0.0, 0.0], [0.0, 0.0], []
    for t, g in enumerate(gradients, 1):
        length = math.hypot(*g)
        g = [x * min(1.0, norm / length) if length else x for x in g]
        for i in range(2):
            m[i] = b1 * m[i] + (1 - b1) * g[i]
            v[i] = b2 * v[i] + (1 - b2) * g[i] ** 2
            w[i] -= lr * (m[i] / (1 - b1 ** t)) / (math.sqrt(v[i] / (1 - b2 ** t)) + eps)
        out.append({"norm": length, "weights": list(w)})
    return out


def averaged(values, decay=0.995):
    """The exponential mean of the weights after each step, corrected for its start."""
    mean, weight, out = 0.0, 0.0, []
    for value in values:
        mean, weight = decay * mean + (1 - decay) * value, decay * weight + (1 - decay)
        out.append(mean / weight)
    return out


def effective(weights):
    """The effective sample size of importance weights, as a share of their number."""
    return sum(weights) ** 2 / (len(weights) * sum(w * w for w in weights))


BATCHES = [[1.0, 0.0, 0.0], [0.5], [1.0, 1.0, 0.0, 0.25]]
GRADIENTS = [[0.3, -0.4], [3.0, 4.0], [0.0, 0.0], [-0.02, 0.5]]
LENGTHS = [1, 4, 20]
AVERAGED = [1.0, 2.0, 1.5, -0.5]
WEIGHTS = [1.0, 0.5, 2.0, 0.25]

print(json.dumps({
    "advantages": [
        {"rewards": group, "dr_grpo": dr_grpo(group), "grpo": grpo(group), "rloo": rloo(group)}
        for group in GROUPS
    ],
    "baseline": {"batches": BATCHES, "advantages": baseline(BATCHES)},
    "losses": LOSSES,
    "divergences": [divergences(a, b) for a, b in ((-1.0, -1.0), (-0.3, -1.5), (-2.5, -0.7), (-1e-9, -8.0))],
    "ordered": [
        ordered([0.3, -2.0, 1.5, 0.0], [2, 0]),
        ordered([0.3, -2.0, 1.5, 0.0], [1, 3, 0, 2]),
        ordered([5.0, 5.0, 5.0], [1]),
        ordered([-3.25, 0.75], [0, 1]),
    ],
    "factors": [
        {"lengths": LENGTHS, "kind": kind, "factors": factors(LENGTHS, kind)}
        for kind in ("choice", "rollout", "constant")
    ],
    "adam": {"gradients": GRADIENTS, "steps": adam(GRADIENTS)},
    "averaged": {"values": AVERAGED, "means": averaged(AVERAGED)},
    "effective": {"weights": WEIGHTS, "share": effective(WEIGHTS)},
}, indent=1))
