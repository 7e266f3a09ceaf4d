#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An optimiser of one's own on a study of vinic: coordinate search, with the standard library alone.

    python3 testbench/study/coordinate_search.py FILE.yaml [VINIC]

It asks vinic for the axes of the study (key `optimise`), starts in their middle, and goes to the best of the neighbours
on each axis; when there is no better one it halves its steps, until they are as small as can be. All neighbours of a
round are told to vinic at once, which runs them on all processors and keeps them in the study's database: `vinic study
report FILE.yaml` draws them. What counts is the first goal. Put your own algorithm in place of `search`.
"""
import json
import subprocess
import sys


class Study:
    def __init__(self, file, vinic):
        self.file, self.vinic = file, vinic
        space = self.call("ask", self.file, "0", "--json")
        self.axes, self.goal = space["axes"], space["goals"][0]

    def call(self, *arguments, points=None):
        ran = subprocess.run([self.vinic, "study", *arguments], input=json.dumps(points), text=True,
                             stdout=subprocess.PIPE)
        if ran.returncode not in (0, 1):  # 1: some point did not end well, the answer says which
            sys.exit(ran.returncode)
        return json.loads(ran.stdout)

    def value(self, axis, share):
        """What stands at a share (0 to 1) of an axis: {name: value}."""
        if "values" in axis:
            last = len(axis["values"]) - 1
            return dict(zip(axis["names"], axis["values"][round(share * last)]))
        low, high = axis["from"], axis["to"]
        value = low * (high / low) ** share if axis["scale"] == "log" else low + (high - low) * share
        return {axis["names"][0]: round(value) if axis["whole"] else value}

    def costs(self, places):
        """What the first goal is at these places (a share for each axis); the smaller the better."""
        points = []
        for place in places:
            point = {}
            for axis, share in zip(self.axes, place):
                point.update(self.value(axis, share))
            points.append(point)
        answer = self.call("tell", self.file, "-", "--json", points={"points": points})
        sign = -1 if self.goal["direction"] == "maximise" else 1
        goals = [point["goals"][self.goal["goal"]] for point in answer["points"]]
        return [float("inf") if goal is None else sign * goal for goal in goals], points


def search(study, smallest=1 / 64):
    place, step = [0.5] * len(study.axes), 0.25
    (best,), (point,) = study.costs([place])
    while step >= smallest:
        around = [[min(max(share + (sign * step if i == at else 0), 0), 1) for i, share in enumerate(place)]
                  for at in range(len(place)) for sign in (-1, 1)]
        costs, points = study.costs(around)
        least = min(range(len(costs)), key=costs.__getitem__)
        if costs[least] < best:
            best, place, point = costs[least], around[least], points[least]
        else:
            step /= 2
    return best, point


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    study = Study(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else "vinic")
    best, point = search(study)
    print(json.dumps({"goal": study.goal["goal"], "value": abs(best), "point": point}))
