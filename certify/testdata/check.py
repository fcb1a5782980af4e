"""A second checker of certificates, which shares nothing with package certify.

    python3 check.py FILE...      prints, for each file and claim, what is proven

One line a claim: "value LOWER UPPER", "true", "false" or "no", in exact fractions;
"no" alone for a file that cannot be read. It is short and slow, and written from
docs/certificates.md and the mathematics in doc.go alone.
"""

import itertools
import json
import sys
import tarfile
from fractions import Fraction

NONE = 2**32 - 1
INF = float("inf")


class No(Exception):
    """What does not hold, or cannot be read."""


def want(condition, why):
    if not condition:
        raise No(why)


class File:
    def __init__(self, name):
        with tarfile.open(name) as tar:
            members = {}
            for member in tar.getmembers():
                want(member.isfile() and member.name not in members, "members")
                members[member.name] = tar.extractfile(member).read()
                want(len(members[member.name]) == member.size, "size")
        self.members = members
        index = json.loads(members["index.json"])
        system = index["transition-system"]
        want(index["format-version"] == 1 and not system.get("#observations"), "version")
        kind = (system["time"], system["#players"])
        want(kind in [("discrete", 0), ("discrete", 1), ("stochastic", 0)], "kind")
        self.mdp, self.ctmc = kind[1] == 1, kind[0] == "stochastic"
        n, choices, branches = system["#states"], system["#choices"], system["#branches"]
        self.n = n
        first = self.offsets("state-to-choices.bin", n, choices)
        start = self.offsets("choice-to-branches.bin", choices, branches)
        targets = self.words("branch-to-target.bin", branches, 8)
        probabilities = self.fractions("branch-to-probability.bin", branches, system["branch-probability-type"])
        want(all(t < n for t in targets) and all(p > 0 for p in probabilities), "branches")
        self.rows = [list(zip(targets[a:b], probabilities[a:b])) for a, b in zip(start, start[1:])]
        want(all(sum(p for _, p in row) == 1 for row in self.rows), "probabilities")
        self.choices = [range(a, b) for a, b in zip(first, first[1:])]
        want(all(self.choices) and (self.mdp or all(len(c) == 1 for c in self.choices)), "choices")
        self.initial = self.bits("state-is-initial.bin")
        want(sum(self.initial) == system["#initial-states"] > 0, "initial")
        self.exit = [Fraction(1)] * n
        if self.ctmc:
            self.exit = self.fractions("state-to-exit-rate.bin", n, system["exit-rate-type"])
            want(all(e > 0 for e in self.exit), "rates")
        self.rewards = []
        for name, a in index.get("annotations", {}).get("rewards", {}).items():
            state, choice = [Fraction(0)] * n, [Fraction(0)] * choices
            for applies in a["applies-to"]:
                path, size = f"annotations/rewards/{name}/{applies}/values.bin", {"states": n, "choices": choices, "branches": branches}[applies]
                values = self.fractions(path, size, a["type"])
                want(all(x >= 0 for x in values), "rewards")
                if applies == "states":
                    state = values
                elif applies == "choices":
                    choice = [x + y for x, y in zip(choice, values)]
                else:
                    at = iter(values)
                    choice = [x + sum(p * next(at) for _, p in row) for x, row in zip(choice, self.rows)]
            self.rewards.append((state, choice))
        certificates = json.loads(members["certificates/index.json"])
        want(certificates["format-version"] == 1, "version of certificates")
        self.sets, self.vectors, self.claims = certificates["sets"], certificates["vectors"], certificates["claims"]
        self.known_sets, self.known_vectors = {}, {}
        for group, things in ("sets", self.sets), ("vectors", self.vectors):
            for i, thing in enumerate(things):
                thing["data"] = {}
                a, path = thing.get("automaton"), thing.get("kind") in ("path formula", "maximal conditional")
                thing["sizes"] = {"bits": n} if a is None else dict.fromkeys(["layer", "won"], a["runs"] if path else a["pairs"])
                thing["size"] = n if a is None else a["pairs"]
                if thing.get("budgets"):
                    thing["size"], thing["sizes"] = thing["budgets"]["states"], {}
                if thing.get("several"):
                    thing["size"], thing["sizes"] = thing["several"]["states"], {}
                for column in thing.get("columns", {}):
                    thing["data"][column] = self.column(group, i, thing, column)

    # Columns.

    def raw(self, name, size):
        want(name in self.members and len(self.members[name]) == size, name)
        return self.members[name]

    def words(self, name, n, size):
        data = self.raw(name, n * size)
        return [int.from_bytes(data[k : k + size], "little") for k in range(0, n * size, size)]

    def offsets(self, name, n, total):
        if name not in self.members:
            want(n == total, name)
            return list(range(n + 1))
        out = self.words(name, n + 1, 8)
        want(out[0] == 0 and out[-1] == total and all(a < b for a, b in zip(out, out[1:])), name)
        return out

    def fractions(self, name, n, kind):
        want(kind["type"] == "rational", name)
        return self.rationals(name, n, kind.get("size", 128) // 8)

    def rationals(self, name, n, size):
        data, half, out = self.raw(name, n * size), size // 2, []
        for k in range(0, n * size, size):
            top = int.from_bytes(data[k : k + half], "little", signed=True)
            bottom = int.from_bytes(data[k + half : k + size], "little")
            want(bottom > 0, name)
            out.append(Fraction(top, bottom))
        return out

    def bits(self, name, n=None):
        n = self.n if n is None else n
        words = self.words(name, (n + 63) // 64, 8)
        out = [bool(words[s // 64] >> s % 64 & 1) for s in range(64 * len(words))]
        want(not any(out[n:]), name)
        return out[:n]

    def column(self, group, i, thing, column):
        about = thing["columns"][column]
        if about.get("same"):
            return self.column(group, i, thing, about["same"])
        name = f"certificates/{group}/{i}/{column}.bin"
        size = thing["sizes"].get(column, thing["size"])
        if about["type"] == "bits":
            return self.bits(name, size)
        if about["type"] == "numbers":
            want(name in self.members, name)
            out, x, shift = [], 0, 0
            for byte in self.members[name]:
                x |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    want(x < 2**32, name)
                    out.append(NONE if x == 0 else x - 1)
                    x = shift = 0
            want(shift == 0 and len(out) == size, name)
            return out
        if about["type"] == "fixed":
            out = [Fraction(x, 2 ** about.get("scale", 0)) for x in self.words(name, size, about["bytes"])]
            if about.get("above"):
                below = thing["columns"][about["above"]]
                want(below["type"] == "fixed" and below.get("scale", 0) == about.get("scale", 0) and not below.get("above"), name)
                below = self.words(f"certificates/{group}/{i}/{about['above']}.bin", size, below["bytes"])
                out = [x + Fraction(y, 2 ** about.get("scale", 0)) for x, y in zip(out, below)]
                want(all(x * 2 ** about.get("scale", 0) < 2**64 for x in out), name)
        else:
            want(not about.get("above"), name)
            out = self.rationals(name, size, about["bytes"])
            want(all(x >= 0 for x in out), name)
        if column + "-infinite" in thing["columns"]:
            infinite = self.bits(f"certificates/{group}/{i}/{column}-infinite.bin", size)
            out = [INF if infinite[s] else out[s] for s in range(size)]
        return out

    # Sets: pairs of lists of Booleans, what is in for sure and what may be.

    def set(self, i):
        if i not in self.known_sets:
            self.known_sets[i] = None
            self.known_sets[i] = self.make_set(self.sets[i])
        want(self.known_sets[i] is not None, "set")
        return self.known_sets[i]

    def decided(self, i):
        low, high = self.set(i)
        want(low == high, "undecided")
        return low

    def make_set(self, d):
        n, kind = range(self.n), d["kind"]
        if kind == "atomic":
            return d["data"]["bits"], d["data"]["bits"]
        if kind == "all":
            return [True] * self.n, [True] * self.n
        if kind == "initial":
            return self.initial, self.initial
        if kind == "bound":
            lower, upper = self.vector(d.get("vector", 0))
            p, relation = Fraction(d["threshold"]), d["relation"]
            test = {"<": lambda x: x < p, "<=": lambda x: x <= p, ">": lambda x: x > p, ">=": lambda x: x >= p}[relation]
            pairs = [(test(a), test(b)) if a is not None else (False, True) for a, b in zip(lower, upper)]
            return [a and b for a, b in pairs], [a or b for a, b in pairs]
        if kind in ("argmin", "argmax"):
            lower, upper = self.vector(d.get("vector", 0))
            if kind == "argmax":
                lower, upper = [x if x is None else -x for x in upper], [x if x is None else -x for x in lower]
            over = [s for s, x in enumerate(self.decided(d["sets"][0])) if x]
            sure = {s for s in over if all(upper[s] <= lower[t] for t in over if t != s)}
            open_ = {s for s in over if all(lower[s] <= upper[t] for t in over)}
            return [s in sure for s in n], [s in open_ for s in n]
        parts = [self.set(j) for j in d["sets"]]
        (low, high), *_ = parts
        if kind == "not":
            return [not x for x in high], [not x for x in low]
        if kind in ("and", "or"):
            test = all if kind == "and" else any
            return tuple([test(part[k][s] for part in parts) for s in n] for k in (0, 1))
        test = all if kind.startswith("forall") else any
        after = [[t for c in self.choices[s] for t, _ in self.rows[c]] for s in n]
        if kind.endswith("next"):
            return tuple([test(part[t] for t in after[s]) for s in n] for part in (low, high))
        want(kind.endswith("until"), "kind")
        inside, rank = d["data"]["bits"], d["data"]["rank"]
        right_low, right_high = parts[1]
        for s in n:
            if inside[s]:
                nearer = test(inside[t] and rank[t] < rank[s] for t in after[s])
                want(right_low[s] or low[s] and nearer, "path")
            else:
                want(not right_high[s] and not (high[s] and test(inside[t] for t in after[s])), "path")
        return inside, inside

    # Vectors: pairs of lists of numbers, the lower and upper bounds.

    def vector(self, i):
        if i not in self.known_vectors:
            self.known_vectors[i] = None
            self.known_vectors[i] = self.make_vector(self.vectors[i], i)
        want(self.known_vectors[i] is not None, "vector")
        return self.known_vectors[i]

    def mean(self, c, x):
        return sum(INF if x[t] == INF else p * x[t] for t, p in self.rows[c])

    def make_vector(self, v, i=-1):
        kind, n, data = v["kind"], self.n, v["data"]
        earning = ("reach reward", "total reward", "cumulative", "instant", "co-safe reward", "discounted reward", "reward within bounds")
        want(kind not in earning or 0 <= v["reward"] < len(self.rewards), "reward")
        if kind in ("path formula", "co-safe reward"):
            return self.path(v, kind == "co-safe reward")
        if kind == "several objectives":
            return self.several(v["several"], data)
        want((kind == "conditional") == bool(v.get("shares")) and (kind == "discounted reward") == ("discount" in v) and (kind in ("reward-bounded until", "reward within bounds")) == ("budgets" in v), "kind")
        want((kind == "maximal conditional") == ("given" in v), "given")
        if kind == "maximal conditional":
            return self.max_conditional(v, data)
        if kind == "conditional":
            return self.conditional(v["shares"], i)
        if kind in ("reward-bounded until", "reward within bounds"):
            return self.reward_bounded(v, data, kind == "reward within bounds")
        maximal = v.get("max", False)
        lower, upper = data.get("lower"), data.get("upper")
        rank, layer = data.get("rank", [NONE] * n), data.get("layer", [NONE] * n)
        reward = [Fraction(0)] * len(self.rows)
        if kind in ("reach reward", "total reward", "cumulative", "average", "discounted reward") and v["reward"] >= 0:
            state, choice = self.rewards[v["reward"]]
            for s in range(n):
                for c in self.choices[s]:
                    reward[c] = state[s] / self.exit[s] + choice[c]

        def fits(s, above, test):
            """Whether test holds of the choices for a bound from above or below."""
            return (all if maximal == above else any)(test(c) for c in self.choices[s])

        def leads(c, test):
            return any(test(t) for t, _ in self.rows[c])

        timed = v.get("timed")
        if kind == "discounted reward":
            d, best = Fraction(v["discount"]), max if maximal else min
            want(not self.ctmc and 0 < d < 1 and v.get("from", 0) == 0 and v["reward"] >= 0, "discount")
            if v.get("to", 0) >= 0:
                x = [Fraction(0)] * n
                for _ in range(v.get("to", 0)):
                    x = [best(reward[c] + d * self.mean(c, x) for c in self.choices[s]) for s in range(n)]
                return x, x
            for s in range(n):
                if lower:
                    want(INF not in lower and fits(s, False, lambda c: lower[s] <= reward[c] + d * self.mean(c, lower)), "discounted")
                if upper:
                    want(INF not in upper and fits(s, True, lambda c: upper[s] >= reward[c] + d * self.mean(c, upper)), "discounted")
            return lower or [Fraction(0)] * n, upper or [INF] * n
        if kind in ("until", "steps"):
            left, right = self.set(v["left"]), self.set(v["right"])
        if kind == "until" or kind == "steps" and (v.get("to", 0) < 0 or timed and timed.get("to") is None):
            if lower:
                for s in range(n):
                    want(lower[s] < INF, "until")
                    if right[0][s]:
                        want(lower[s] <= 1, "until")
                    elif lower[s] > 0:
                        ends = lambda t: right[0][t] or lower[t] == 0 or rank[t] < rank[s]
                        want(left[0][s] and fits(s, False, lambda c: lower[s] <= self.mean(c, lower) and leads(c, ends)), "until")
            if upper:
                for s in range(n):
                    want(upper[s] < INF, "until")
                    if right[1][s]:
                        want(upper[s] >= 1, "until")
                    elif left[1][s]:
                        want(fits(s, True, lambda c: upper[s] >= self.mean(c, upper)), "until")
            lower, upper = lower or [Fraction(0)] * n, [min(x, 1) for x in upper or [1] * n]
            if kind == "until":
                return lower, upper
        if kind in ("reach reward", "total reward"):
            total = kind == "total reward"
            goal = [False] * n if total else self.decided(v["right"])
            never = lambda c, s: not total or reward[c] > 0 or leads(c, lambda t: rank[t] < rank[s])
            for s in range(n):
                if lower and lower[s] == INF:
                    below = lambda c: leads(c, lambda t: lower[t] == INF and layer[t] < layer[s])
                    stays = lambda c: never(c, s) and not leads(c, lambda t: lower[t] < INF or layer[t] != layer[s])
                    want(not goal[s] and fits(s, False, lambda c: below(c) or (not maximal or layer[s] == 0) and stays(c)), "infinite")
                elif lower and goal[s]:
                    want(lower[s] == 0, "goal")
                elif lower and lower[s] > 0:
                    ends = lambda t: lower[t] in (0, INF) or rank[t] < rank[s]
                    on = lambda c: not total or reward[c] > 0 or leads(c, ends)
                    want(fits(s, False, lambda c: lower[s] <= reward[c] + self.mean(c, lower) and on(c)), "lower")
                if upper and upper[s] < INF and not goal[s]:
                    near = lambda c: total or leads(c, lambda t: goal[t] or rank[t] < rank[s])
                    want(fits(s, True, lambda c: upper[s] >= reward[c] + self.mean(c, upper) and near(c)), "upper")
            return lower or [Fraction(0)] * n, upper or [INF] * n
        if kind == "average":
            if v["reward"] < 0:
                right = self.decided(v["right"])
                for s in range(n):
                    for c in self.choices[s]:
                        reward[c] = right[s] / self.exit[s]
            for gain, bias, sign in (lower, data.get("lower-bias"), 1), (upper, data.get("upper-bias"), -1):
                if gain:
                    want(bias and INF not in gain + bias, "bias")
                    for s in range(n):
                        want(
                            fits(
                                s,
                                sign < 0,
                                lambda c: sign * (self.mean(c, gain) - gain[s]) >= 0
                                and sign * (reward[c] + self.mean(c, bias) - bias[s] - gain[s] / self.exit[s]) >= 0,
                            ),
                            "average",
                        )
            return lower or [Fraction(0)] * n, upper or [INF] * n
        if timed:
            if kind == "steps":
                begin = (lower, upper) if timed.get("to") is None else [[Fraction(x) for x in r] for r in right]
                return tuple([Fraction(x) for x in self.until_time(timed, left[k], right[k], begin[k], k)] for k in (0, 1))
            state = self.rewards[v["reward"]][0]
            earned = [reward[s] * self.exit[s] for s in range(n)]
            return tuple(self.elapse(timed, state if kind == "instant" else earned, [True] * n, Fraction(timed["to"]), k, kind != "instant") for k in (0, 1))
        # What is left are steps, in fractions.
        want(kind in ("steps", "next", "cumulative", "instant") and (kind == "next" or not self.ctmc), "kind")
        to, begin = v.get("to", 0), v.get("from", 0)
        want(0 <= begin <= to or begin >= 0 and to == -1 and kind == "steps", "from and to")
        out = []
        for k in (0, 1):
            if kind == "steps":
                l, r = left[k], right[k]
                x = (lower, upper)[k] if to < 0 else [Fraction(y) for y in r]
            elif kind == "next":
                x, to = [Fraction(y) for y in self.set(v["right"])[k]], 1
            elif kind == "instant":
                x = self.rewards[v["reward"]][0]
            else:
                x = [Fraction(0)] * n
            best = max if maximal else min
            for step in range(max(to, begin)):
                after = [best(reward[c] + self.mean(c, x) for c in self.choices[s]) for s in range(n)]
                if kind == "steps":
                    early = step < to - begin
                    after = [Fraction(1) if early and r[s] else after[s] if l[s] else Fraction(0) for s in range(n)]
                x = after
            out.append(x)
        return tuple(out)

    # Conditional probabilities: shares of two others. A state without a proof that its value is defined has None.

    def conditional(self, shares, i):
        want(not self.mdp and len(shares) == 2 and all(0 <= share["vector"] < i for share in shares), "shares")
        bounds = []
        for share in shares:
            want(self.vectors[share["vector"]]["kind"] in ("until", "steps", "next", "path formula", "reward-bounded until"), "share")
            lower, upper = self.vector(share["vector"])
            bounds.append((lower, upper) if not share.get("complement") else ([1 - x for x in upper], [1 - x for x in lower]))
        low, high = [], []
        for a, b, c, d in zip(bounds[0][0], bounds[0][1], bounds[1][0], bounds[1][1]):
            low.append(a / (a + d) if a + c > 0 else None)
            high.append(b / (b + c) if a + c > 0 else None)
        return low, high

    # Maximal conditional probabilities: mean payoffs of the product with an automaton of two parts.

    def max_conditional(self, v, data):
        a, given = v["automaton"], v["given"]
        ends = [Fraction(given["lower"]), Fraction(given["upper"])]
        want(self.mdp and v.get("max") and "lower" in data and "upper" in data and all(0 <= q <= 1 for q in ends), "given")
        want(not v.get("paths") and not any(INF in data[side] for side in ("lower", "upper")), "infinite")
        excluded = a["excluded"]
        want(len(excluded) == len(a["next"]) and all(excluded[to] == excluded[q] for q, row in enumerate(a["next"]) for to in row), "excluded")
        jumps, marks, letter, pairs, parts = self.pairs(v, False)
        for part, formula in (False, {"op": "&", "x": a["formula"], "y": a["condition"]}), (True, {"op": "!", "x": a["condition"]}):
            self.try_lassos(dict(a, formula=formula), a["next"], [[d for d in j if excluded[d] == part] for j in jumps], marks, False)
        goals, _ = self.runs(a, data, jumps, marks, letter, pairs, parts, excluded, [1, ends[1]])
        low, high, rank = data["lower"], data["upper"], data.get("rank", [NONE] * pairs.n)
        payoff = [1 if goals[0][i] else ends[0] if goals[1][i] else 0 for i in range(pairs.n)]
        certain = given.get("certain", False)
        leads = lambda i, c: not (certain and any(low[t] == 0 for t, _ in pairs.rows[c])) and any(low[t] <= payoff[t] or rank[t] < rank[i] for t, _ in pairs.rows[c])
        for i in range(pairs.n):
            want(low[i] <= payoff[i] or any(low[i] <= pairs.mean(c, low) and leads(i, c) for c in pairs.choices[i]), "lower")
            want(high[i] >= 1 or all(high[i] >= pairs.mean(c, high) for c in pairs.choices[i]), "upper")
        lower = [(Fraction(1) if certain else ends[0]) if low[s] > ends[0] else None for s in range(self.n)]
        return lower, [(ends[1] if high[s] <= ends[1] else Fraction(1)) if lower[s] is not None else None for s in range(self.n)]

    # Bounds on rewards: the pairs of states and sums are a model of their own.

    def reward_bounded(self, v, data, is_reward):
        left, right = ([True] * self.n, [False] * self.n) if is_reward else (self.decided(v["left"]), self.decided(v["right"]))
        bounds, costs = v["budgets"]["bounds"], []
        want(not self.ctmc and bounds and "lower" in data and "upper" in data, "budgets")
        for bound in bounds:
            if bound["reward"] < 0:
                costs.append([Fraction(1)] * len(self.rows))
                continue
            state, choice = self.rewards[bound["reward"]]
            want(self.mdp or not any(choice), "rewards of transitions")
            costs.append([None] * len(self.rows))
            for s in range(self.n):
                for c in self.choices[s]:
                    costs[-1][c] = state[s] + choice[c]
        lows = [(Fraction(b.get("low", 0)), b.get("low-strict", False) and "low" in b) for b in bounds]
        highs = [(Fraction(b["high"]) if "high" in b else INF, b.get("high-strict", False)) for b in bounds]
        want(all(x >= 0 for x, _ in lows) and all(x > 0 or x == 0 and not strict for x, strict in highs), "bounds")
        enough = lambda k, x: x > lows[k][0] or x == lows[k][0] and not lows[k][1]
        little = lambda k, x: x < highs[k][0] or x == highs[k][0] and not highs[k][1]

        def kept(k, x):
            """A sum beyond which nothing changes is infinite."""
            return INF if highs[k][0] == INF and enough(k, x) else x

        def meaning(s, sums):
            within = all(little(k, x) or x == INF for k, x in enumerate(sums))
            if within and right[s] and all(enough(k, x) for k, x in enumerate(sums)):
                return s, True
            if not within or not left[s]:
                return s, False
            return s, sums

        out = File.__new__(File)
        out.mdp, out.ctmc, out.sets, out.rewards = self.mdp, False, [], []
        parts, number, out.rows, out.choices, earned = [], {}, [], [], []
        want(not is_reward or not any("low" in b for b in bounds), "lower bound")

        def state(x):
            if x not in number:
                number[x] = len(parts)
                parts.append(x)
            return number[x]

        for s in range(self.n):
            state(meaning(s, tuple(kept(k, Fraction(0)) for k in range(len(bounds)))))
        for j, (s, sums) in enumerate(parts):  # which grow
            want(len(parts) <= v["budgets"]["states"], "states")
            first = len(out.rows)
            if isinstance(sums, bool):
                out.rows.append([(j, Fraction(1))])
                earned.append(Fraction(0))
            for c in [] if isinstance(sums, bool) else self.choices[s]:
                later = tuple(kept(k, x + costs[k][c]) for k, x in enumerate(sums))
                for t in sorted(t for t, _ in self.rows[c]):
                    state(meaning(t, later))
                out.rows.append([(state(meaning(t, later)), p) for t, p in self.rows[c]])
                within = is_reward and all(little(k, x) for k, x in enumerate(later))
                earned.append(self.rewards[v["reward"]][0][s] + self.rewards[v["reward"]][1][c] if within else Fraction(0))
            out.choices.append(range(first, len(out.rows)))
        out.n = len(parts)
        want(out.n <= v["budgets"]["states"], "states")
        out.exit = [Fraction(1)] * out.n
        goal = [sums is True for _, sums in parts]
        out.known_sets = {0: ([True] * out.n, [True] * out.n), 1: (goal, goal)}
        out.rewards = [([Fraction(0)] * out.n, earned)]
        inner = {"kind": "total reward" if is_reward else "until", "left": 0, "right": 1, "reward": 0 if is_reward else -1, "max": v.get("max", False), "data": data}
        lower, upper = out.make_vector(inner)
        return lower[: self.n], upper[: self.n]

    # Path formulas: the pairs are a model of their own, which is checked as any other.

    def multiply(self, a, letter, starts, stays):
        """The product of this model with an automaton, and the parts of its states."""
        out = File.__new__(File)
        out.mdp, out.ctmc, out.sets, out.known_sets = self.mdp, False, [], {}
        parts, number, out.rows, out.choices, out.of = [], {}, [], [], []

        def state(x):
            if x not in number:
                number[x] = len(parts)
                parts.append(x)
            return number[x]

        for x in starts:
            state(x)
        for i, (s, q) in enumerate(parts):  # which grow
            first = len(out.rows)
            for c in [None] if stays(q) else self.choices[s]:
                out.of.append(c)
                for t in sorted(t for t, _ in self.rows[c]) if c is not None else []:
                    state((t, a["next"][q][letter[t]]))
                out.rows.append([(i, Fraction(1))] if c is None else [(state((t, a["next"][q][letter[t]])), p) for t, p in self.rows[c]])
            out.choices.append(range(first, len(out.rows)))
        out.n = len(parts)
        out.exit = [Fraction(1)] * out.n
        return out, parts

    def transitions(self):
        """The MDP whose choices are the transitions of this model."""
        out = File.__new__(File)
        out.mdp, out.ctmc, out.n, out.rows, out.choices = True, False, self.n, [], []
        for s in range(self.n):
            first = len(out.rows)
            out.rows += [[(t, Fraction(1))] for c in self.choices[s] for t in sorted(t for t, _ in self.rows[c])]
            out.choices.append(range(first, len(out.rows)))
        return out

    def path(self, v, co_safe):
        a, data = v["automaton"], v["data"]
        want("condition" not in a and not a.get("excluded"), "condition")
        jumps, marks, letter, pairs, parts = self.pairs(v, co_safe)
        self.try_lassos(a, a["next"], jumps, marks, co_safe)
        everything, goal = [True] * pairs.n, [marks[q] for _, q in parts]
        inner = {"max": v.get("max", False), "data": data, "left": 0, "right": 1, "reward": 0, "kind": "reach reward"}
        if co_safe:
            state, choice = self.rewards[v["reward"]]
            owner = {c: s for s in range(self.n) for c in self.choices[s]}
            earned = [Fraction(0) if c is None else state[owner[c]] / self.exit[owner[c]] + choice[c] for c in pairs.of]
            pairs.rewards = [([Fraction(0)] * pairs.n, earned)]
            pairs.known_sets = {0: (everything, everything), 1: (goal, goal)}
            lower, upper = pairs.make_vector(inner)
            return lower[: self.n], upper[: self.n]
        (goal, _), (sure, _) = self.runs(a, data, jumps, marks, letter, pairs, parts, [False] * len(marks), [1, 1])
        pairs.known_sets = {0: (everything, everything), 1: (goal, sure)}
        inner["kind"] = "until"
        lower, upper = pairs.make_vector(inner)
        return lower[: self.n], upper[: self.n]

    def pairs(self, v, co_safe):
        """The jumps and marks of an automaton, the letters of the states, and the product."""
        a = v["automaton"]
        paths = v.get("paths", False)
        want(not paths or v.get("max", False) and not co_safe, "paths")
        steps, jumps, marks, count = a["next"], a["jumps"], a["accepting"], len(a["next"])
        jumps = [j or [] for j in jumps]
        want(len(jumps) == len(marks) == count > 0 and len(set(a["letters"])) == len(a["letters"]) > 0, "automaton")
        want(all(len(row) == len(a["letters"]) and all(0 <= q < count for q in row) for row in steps), "steps")
        want(all(0 <= d < count for j in jumps for d in j) and not (co_safe and any(jumps)), "jumps")
        want(co_safe or v.get("max", False) or not self.mdp, "minimum")
        sets = [self.decided(j) for j in a["sets"] or []]
        letter = []
        for s in range(self.n):
            word = sum(1 << i for i, x in enumerate(sets) if x[s])
            want(word in a["letters"], "letter")
            letter.append(a["letters"].index(word))
        starts = [(s, steps[0][letter[s]]) for s in range(self.n)]
        pairs, parts = (self.transitions() if paths else self).multiply(a, letter, starts, lambda q: co_safe and (marks[q] or self.dead(a, q)))
        want(pairs.n <= a["pairs"], "pairs")
        return jumps, marks, letter, pairs, parts

    def dead(self, a, q):
        return not a["accepting"][q] and all(to == q for to in a["next"][q])

    def runs(self, a, data, jumps, marks, letter, pairs, parts, excluded, payoffs):
        """For each part of an automaton, the pairs with a jump to a winning run, and those whose upper bound is not below the payoff."""
        dead = lambda q: self.dead(a, q)
        runs, triples = pairs.multiply(a, [letter[s] for s, _ in parts], [(i, d) for i, (_, q) in enumerate(parts) for d in jumps[q]], dead)
        want(runs.n <= a["runs"], "runs")
        rank, layer = data.get("won", []), data.get("layer", [])
        sure = [[y >= payoff for y in data["upper"][: pairs.n]] for payoff in payoffs]
        for k, (i, d) in enumerate(triples):
            to = [[t for t, _ in runs.rows[c]] for c in runs.choices[k]]
            if rank[k] != NONE:
                want(any(NONE not in [rank[t] for t in x] and (marks[d] or any(rank[t] < rank[k] for t in x)) for x in to), "won")
            inside = sure[excluded[d]]
            if not inside[i]:
                leaves = lambda x: any(inside[triples[t][0]] or layer[t] < layer[k] for t in x)
                want(all(leaves(x) or not marks[d] and all(layer[t] == layer[k] for t in x) for x in to), "lost")
        ranked = {x for k, x in enumerate(triples) if rank[k] != NONE}
        goals = [[any((i, d) in ranked for d in jumps[q] if excluded[d] == part) for i, (_, q) in enumerate(parts)] for part in (False, True)]
        return goals, sure

    # Several objectives: total rewards of a product, whose states are numbered breadth-first.

    def several(self, a, data):
        goals = a["objectives"]
        want(self.mdp and sum(self.initial) == 1 and 0 < len(goals) <= 12 and len(a.get("parts") or []) <= 64, "several")
        want(sum(o.get("bound") is None for o in goals) <= 1, "query")
        sets = [(self.decided(o["left"]), self.decided(o["right"])) if o["reward"] < 0 else None for o in goals]
        count = max([0] + [o["steps"] for o in goals])

        def enter(t, seen, step):
            after = []
            for k, pair in enumerate(sets):
                if pair is None or seen[k] != "open":
                    after.append("over")
                else:
                    after.append("now" if pair[1][t] else "open" if pair[0][t] else "over")
            return t, tuple(after), step

        begin = enter(self.initial.index(True), ["open"] * len(goals), 0)
        states, number = [begin], {begin: 0}
        out = File.__new__(File)
        out.mdp, out.ctmc, out.sets, out.known_sets, out.rows, out.choices, owner = True, False, [], {}, [], [], []
        for t, seen, step in states:  # which grow
            first = len(out.rows)
            for c in self.choices[t]:
                to = {u: enter(u, seen, min(step + 1, count)) for u, _ in self.rows[c]}
                for u in sorted(to):
                    if to[u] not in number:
                        number[to[u]] = len(states)
                        states.append(to[u])
                out.rows.append([(number[to[u]], p) for u, p in self.rows[c]])
                owner.append(((t, seen, step), c))
            out.choices.append(range(first, len(out.rows)))
        out.n, out.exit = len(states), [Fraction(1)] * len(states)
        want(out.n <= a["states"], "states")

        def earned(k, z, c):
            o = goals[k]
            if o["reward"] < 0:
                return Fraction(z[1][k] == "now")
            state, choice = self.rewards[o["reward"]]
            return state[z[0]] + choice[c] if o["steps"] < 0 or z[2] < o["steps"] else Fraction(0)

        earns = [[earned(k, z, c) for z, c in owner] for k in range(len(goals))]
        great = [o.get("great", False) for o in goals]

        def total(model, gains, columns, maximal):
            model.rewards = [([Fraction(0)] * model.n, gains)]
            columns = {name: column[: model.n] for name, column in columns.items() if column is not None}
            return model.make_vector({"kind": "total reward", "max": maximal, "reward": 0, "data": columns})

        small = [sum(earns[k][c] for k in range(len(goals)) if not great[k]) for c in range(len(owner))]
        least = [Fraction(0)] * out.n
        if data.get("lower"):
            least, _ = total(out, small, {x: data.get(x) for x in ("lower", "rank", "layer")}, False)
        # What can be had.
        parts, means = a.get("parts") or [], [Fraction(0)] * len(goals)
        want(not parts or sum(Fraction(x["share"]) for x in parts) == 1, "shares")
        for j, part in enumerate(parts):
            want(Fraction(part["share"]) >= 0, "share")
            chain = File.__new__(File)
            chain.mdp, chain.ctmc, chain.sets, chain.known_sets, chain.n, chain.exit = False, False, [], {}, out.n, out.exit
            want(all(x < len(own) for x, own in zip(data[f"choice-{j}"], out.choices)), "choice")
            taken = [own[x] for own, x in zip(out.choices, data[f"choice-{j}"])]
            chain.rows, chain.choices = [out.rows[c] for c in taken], [range(s, s + 1) for s in range(out.n)]
            for k in range(len(goals)):
                gains, column = [earns[k][c] for c in taken], data[f"value-{j}-{k}"]
                columns = {"lower": column, "rank": data.get(f"rank-{j}-{k}")} if great[k] else {"upper": column}
                bounds = total(chain, gains, columns, False)
                want(column[0] < INF, "infinite")
                means[k] += Fraction(part["share"]) * bounds[0 if great[k] else 1][0]
        bounds = [None if o.get("bound") is None else Fraction(o["bound"]) for o in goals]
        for k, b in enumerate(bounds):
            want(not parts or b is None or (means[k] >= b if great[k] else means[k] <= b), "bound")
        query = bounds.index(None) if None in bounds else None
        want(query is None or parts, "nothing had")
        low, high = Fraction(0), INF
        if query is None:
            low, high = Fraction(bool(parts)), Fraction(1)
        elif great[query]:
            low = means[query]
        else:
            high = means[query]
        # What nothing exceeds.
        if a.get("weights"):
            weights, shift, factor = [Fraction(x) for x in a["weights"]], Fraction(a["shift"]), Fraction(a["factor"])
            y = data["upper"]
            want(len(weights) == len(goals) and min(weights + [shift, factor]) >= 0 and least[0] < INF and INF not in y, "weights")
            for s in range(out.n):
                if least[s] == INF:
                    continue
                want(y[s] + factor * least[s] >= shift, "shift")
                for c in out.choices[s]:
                    if all(least[t] < INF for t, _ in out.rows[c]):
                        gain = sum((1 if great[k] else -1) * weights[k] * earns[k][c] for k in range(len(goals)))
                        want(y[s] >= gain + sum(p * y[t] for t, p in out.rows[c]), "step")
            most = y[0] - shift
            for k, b in enumerate(bounds):
                if b is not None:
                    most += (-1 if great[k] else 1) * weights[k] * b
            if query is None:
                high = Fraction(0) if most < 0 else high
            elif weights[query] > 0 and great[query]:
                high = most / weights[query]
            elif weights[query] > 0:
                low = max(-most / weights[query], Fraction(0))
        if query is None or goals[query]["reward"] < 0:
            high = min(high, Fraction(1))
        other = Fraction(1) if query is None or goals[query]["reward"] < 0 else INF
        return [low if x else Fraction(0) for x in self.initial], [high if x else other for x in self.initial]

    def try_lassos(self, a, steps, jumps, marks, co_safe):
        """Compares the automaton with its formula on all lassos of up to four letters, if they are few."""
        letters = range(len(a["letters"]))
        for size in range(1, 5):
            if len(letters) ** size > 300:
                return
            for word in itertools.product(letters, repeat=size):
                for loop in range(size):
                    after = lambda i: loop if i + 1 == size else i + 1
                    step = lambda x: (after(x[0]), steps[x[1]][word[x[0]]])
                    x, accepted = step((0, 0)), False
                    for _ in range(size * len(steps)):
                        accepted = accepted or co_safe and marks[x[1]]
                        for d in jumps[x[1]]:
                            y = (x[0], d)
                            for _ in range(size * len(steps)):
                                y = step(y)
                            z = step(y)
                            hit = marks[y[1]]
                            while z != y:
                                hit, z = hit or marks[z[1]], step(z)
                            accepted = accepted or hit
                        x = step(x)
                    want(accepted == self.satisfies(a, a["formula"], word, after, 0), "lasso")

    def satisfies(self, a, f, word, after, i):
        """Whether a formula holds at a place, by going on until places come again."""
        op, holds = f["op"], lambda g, k: self.satisfies(a, g, word, after, k)
        low, high = f.get("low", 0), f.get("high")
        if op in ("true", "p"):
            return op == "true" or bool(a["letters"][word[i]] >> f.get("prop", 0) & 1)
        if op == "!":
            return not holds(f["x"], i)
        if op in ("&", "|", "=>", "<=>"):
            x, y = holds(f["x"], i), holds(f["y"], i)
            return {"&": x and y, "|": x or y, "=>": not x or y, "<=>": x == y}[op]
        if op == "X":
            return holds(f["x"], after(i))
        want(op in ("F", "G", "U", "R", "W") and (op != "W" or low == 0 and high is None), "operator")
        for k in range((high if high is not None else low + 2 * len(word)) + 1):  # the first place that decides
            x, y = (True, holds(f["x"], i)) if op in ("F", "G") else (holds(f["x"], i), holds(f["y"], i))
            if op in ("F", "U"):
                if k >= low and y:
                    return True
                if op == "U" and not x:
                    return False
            elif op == "W":
                if y or not x:
                    return y
            else:
                if k >= low and not y:
                    return False
                if op == "R" and x:
                    return True
            i = after(i)
        return op in ("G", "R", "W")

    # A time. The scale of the file is not used: what comes out is nearer to the truth.

    def until_time(self, timed, left, right, x, side):
        start = Fraction(timed["from"])
        if timed.get("to") is not None:
            moves = [a and not b for a, b in zip(left, right)]
            x = self.elapse(timed, x, moves, Fraction(timed["to"]) - start, side, False)
        if start > 0:
            x = self.elapse(timed, [y if a else 0 for y, a in zip(x, left)], left, start, side, False)
        return x

    def elapse(self, timed, x, moves, time, side, integral):
        """The mean of x after a time, or of its integral, from below (side 0) or above."""
        n, rate, unit = range(self.n), Fraction(timed["rate"]), 2**130
        want(all(self.exit[s] <= rate for s in n if moves[s]), "rate")
        trim = lambda y: Fraction((y.numerator * unit + side * (y.denominator - 1)) // y.denominator, unit)
        mean = rate * time
        want(mean < 10000, "time")
        terms, exp = [Fraction(1)], Fraction(1)  # of the series of e^mean, which is in [exp, exp + terms[-1]]
        while len(terms) < 2 * mean + 2 or terms[-1] * unit > 1:
            terms.append(terms[-1] * mean / len(terms))
            exp += terms[-1]
        e, greatest = (exp + terms[-1], exp)[side], max(x)
        beyond, total, left = Fraction(1), [Fraction(0)] * self.n, time if integral else Fraction(1)
        for term in terms:
            weight = trim(term / e)
            if integral:
                beyond -= weight  # P(N > k), from the other side: what that makes of it is far below the precision
                weight = beyond / rate
            total = [trim(a + weight * b) if moves[s] else b for s, a, b in zip(n, total, x)]
            left -= weight
            x = [trim(x[s] + self.exit[s] / rate * (self.mean(self.choices[s][0], x) - x[s])) if moves[s] else x[s] for s in n]
        slack = abs(left) * greatest + Fraction(1, 2**110)
        return [b if not moves[s] else max(a - slack, 0) if side == 0 else a + slack for s, a, b in zip(n, total, x)]

    def claim(self, c):
        over = [s for s, x in enumerate(self.decided(c["over"])) if x]
        want(over, "about nothing")
        of = c.get("of", "")
        want(of in (("", "count", "exists", "first") if c["vector"] < 0 else ("", "min", "max", "sum", "avg", "first")), "of")
        if of == "first":
            over = over[:1]
        number = lambda text, absent: absent if not text else INF if text == "inf" else Fraction(text)
        if of == "count":
            low, high = [sum(side[s] for s in over) for side in self.set(c["set"])]
            want(number(c.get("lower"), 0) <= low <= high <= number(c.get("upper"), INF), "claim")
            return f"value {low} {high}"
        if c["vector"] < 0:
            low, high = self.set(c["set"])
            some = any if of == "exists" else all
            holds = some(low[s] for s in over)
            want(holds or not some(high[s] for s in over), "undecided")
            want(holds == c.get("holds", False), "claim")
            return "true" if holds else "false"
        lower, upper = self.vector(c["vector"])
        pairs = [(lower[s], upper[s]) for s in over]
        want(all(a is not None for a, _ in pairs), "undefined")
        if c.get("complement"):
            v = self.vectors[c["vector"]]
            asked = [o for o in v.get("several", {}).get("objectives", []) if o.get("bound") is None]
            want(v["kind"] in ("until", "steps", "next", "path formula", "reward-bounded until", "conditional", "maximal conditional") or v["kind"] == "several objectives" and (not asked or asked[0]["reward"] < 0), "complement")
            pairs = [(1 - b, 1 - a) for a, b in pairs]
        total = lambda xs: INF if INF in (xs := list(xs)) else sum(xs) / (len(xs) if of == "avg" else 1)
        least, most = {"min": (min, min), "max": (max, max), "sum": (total, total), "avg": (total, total)}.get(of, (min, max))
        low, high = least(a for a, _ in pairs), most(b for _, b in pairs)
        want(number(c.get("lower"), 0) <= low <= high <= number(c.get("upper"), INF), "claim")
        return f"value {low} {high}"


def main():
    sys.setrecursionlimit(10000)
    for name in sys.argv[1:]:
        try:
            f = File(name)
        except Exception:
            print("no")
            continue
        for c in f.claims:
            try:
                print(f.claim(c))
            except Exception:
                print("no")


main()
