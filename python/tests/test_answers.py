"""Tests of the answers: python3 -m unittest discover -s python/tests, with TILECHECK naming the program."""

import importlib.util
import math
import pathlib
import tempfile
import unittest
import warnings
from fractions import Fraction
from xml.etree import ElementTree

import tilecheck

DIE = """dtmc
module die
  s : [0..7] init 0;
  d : [0..6] init 0;
  [] s=0 -> 0.5 : (s'=1) + 0.5 : (s'=2);
  [] s=1 -> 0.5 : (s'=3) + 0.5 : (s'=4);
  [] s=2 -> 0.5 : (s'=5) + 0.5 : (s'=6);
  [] s=3 -> 0.5 : (s'=1) + 0.5 : (s'=7) & (d'=1);
  [] s=4 -> 0.5 : (s'=7) & (d'=2) + 0.5 : (s'=7) & (d'=3);
  [] s=5 -> 0.5 : (s'=7) & (d'=4) + 0.5 : (s'=7) & (d'=5);
  [] s=6 -> 0.5 : (s'=2) + 0.5 : (s'=7) & (d'=6);
  [] s=7 -> true;
endmodule
label "done" = s=7;
rewards "flips"
  s<7 : 1;
endrewards
"""

RETRY = """dtmc
const int N;
const double p;
module sender
  x : [0..N] init 0;
  [] x<N -> p : (x'=x+1) + 1-p : (x'=0);
  [] x=N -> true;
endmodule
"""

CHOICE = """mdp
module M
  x : [0..2];
  b : bool;
  [left] x=0 -> 0.5 : (x'=1) & (b'=true) + 0.5 : (x'=2);
  [right] x=0 -> (x'=2);
endmodule
"""


def parse_svg(picture: tilecheck.Picture) -> ElementTree.Element:
    return ElementTree.fromstring(picture.svg)


class CheckTest(unittest.TestCase):
    def test_exact_value(self) -> None:
        results = tilecheck.check(DIE, "P=? [ F d=6 ]", exact=True)
        self.assertEqual(results[0].fraction, Fraction(1, 6))
        self.assertEqual(results[0].accuracy, "exact")
        self.assertEqual(results[0].states, 13)

    def test_bounds_contain_the_value(self) -> None:
        result = tilecheck.check(DIE, 'R{"flips"}=? [ F s=7 ]')[0]
        assert result.lower is not None and result.upper is not None
        self.assertLessEqual(result.lower, Fraction(11, 3))
        self.assertGreaterEqual(result.upper, Fraction(11, 3))

    def test_infinite_value(self) -> None:
        self.assertEqual(tilecheck.check(DIE, 'R{"flips"}=? [ F d=8 ]').value, math.inf)

    def test_path_and_properties_file(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            model, properties = pathlib.Path(folder, "-die.prism"), pathlib.Path(folder, "die.props")
            model.write_text(DIE)
            properties.write_text('"six": P=? [ F d=6 ];\n"two": P=? [ F d=2 ];\n')
            results = tilecheck.check(model, properties)
            self.assertEqual([result.name for result in results], ["six", "two"])
            self.assertEqual(len(tilecheck.check(str(model), properties, select="two")), 1)

    def test_bounded_property(self) -> None:
        results = tilecheck.check(DIE, ["P>=0.5 [ F d=6 ]", "P<=0.5 [ F d=6 ]"])
        self.assertEqual([result.holds for result in results], [False, True])
        self.assertEqual(results.exit_code, 2)

    def test_results_are_no_conditions(self) -> None:
        results = tilecheck.check(DIE, "P>=0.5 [ F d=6 ]")
        self.assertRaises(TypeError, bool, results)
        self.assertRaises(TypeError, bool, results[0])
        self.assertRaises(TypeError, float, results[0])
        self.assertRaises(TypeError, lambda: tilecheck.check(DIE, "P=? [ F d=6 ]").holds)
        self.assertRaises(ValueError, lambda: tilecheck.check(DIE, ["P=? [ F d=6 ]"] * 2).value)

    def test_constants(self) -> None:
        results = tilecheck.check(RETRY, "P=? [ F<=1 x=N ]", {"N": 1, "p": 0.25})
        self.assertEqual(results[0].constants, {"N": 1, "p": 0.25})
        self.assertAlmostEqual(float(results[0]), 0.25)

    def test_warnings_reach_the_user(self) -> None:
        with self.assertWarnsRegex(tilecheck.TilecheckWarning, "deadlocks in 2 states") as caught:
            results = tilecheck.check(CHOICE, "Pmax=? [ F x=1 ]")
        self.assertEqual(caught.filename, __file__)
        self.assertEqual(results[0].warnings, ("deadlocks in 2 states were given a self-loop",))

    def test_curve(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = tilecheck.check(CHOICE, "multi(Pmax=? [ F x=1 ], Pmax=? [ F x=2 ])")
        self.assertEqual(results.value, [[0, 1], [0.5, 0.5]])


class ErrorTest(unittest.TestCase):
    def test_place_in_a_text(self) -> None:
        with self.assertRaises(tilecheck.TilecheckError) as caught:
            tilecheck.check(DIE.replace("(s'=4)", "(s=4)"), "P=? [ F d=6 ]")
        error = caught.exception
        self.assertEqual((error.file, error.line, error.exit_code), ("-", 6, 1))
        self.assertEqual(error.places[0].column, error.column)
        self.assertIn("primed", error.places[0].message)
        self.assertIn("[] s=1 -> 0.5", str(error), "the line of the text is shown")

    def test_undefined_constants(self) -> None:
        with self.assertRaisesRegex(tilecheck.TilecheckError, '"N" and "p"'):
            tilecheck.check(RETRY, "P=? [ F x=N ]")

    def test_error_of_one_property(self) -> None:
        results = tilecheck.check(DIE, ["P=? [ F d=6 ]", "multi(P>=1 [ F d=6 ], P>=1 [ F d=5 ])"])
        self.assertAlmostEqual(float(results[0]), 1 / 6)
        self.assertIsNotNone(results[1].error)
        with self.assertRaisesRegex(tilecheck.TilecheckError, "MDP"):
            results[1].value

    def test_error_of_all_properties(self) -> None:
        with self.assertRaisesRegex(tilecheck.TilecheckError, "MDP"):
            tilecheck.check(DIE, "multi(P>=1 [ F d=6 ], P>=1 [ F d=5 ])")

    def test_unknown_option(self) -> None:
        with self.assertRaisesRegex(tilecheck.UsageError, "--colour"):
            tilecheck.check(DIE, "P=? [ F d=6 ]", colour=True)

    def test_limit(self) -> None:
        with self.assertRaises(tilecheck.LimitError) as caught:
            tilecheck.explore(DIE, max_states=3)
        self.assertEqual(caught.exception.exit_code, 4)
        with self.assertRaises(tilecheck.LimitError):
            tilecheck.check(DIE, "P=? [ F d=6 ]", max_states=3)

    def test_place_of_an_error_of_explore(self) -> None:
        with self.assertRaises(tilecheck.TilecheckError) as caught:
            tilecheck.explore(DIE.replace("endmodule", "endmodul"))
        self.assertEqual((caught.exception.file, caught.exception.line), ("-", 13))

    def test_missing_file(self) -> None:
        self.assertRaisesRegex(tilecheck.TilecheckError, "no such file", tilecheck.check, "/missing.prism", "P=? [ F d=6 ]")


class OtherCommandsTest(unittest.TestCase):
    def test_crosscheck(self) -> None:
        results = tilecheck.crosscheck(DIE, "P=? [ F d=6 ]", engine=["native", "native:exact"])
        self.assertEqual([result.outcome for result in results], ["agree", "agree"])

    def test_crosscheck_that_compares_nothing(self) -> None:
        with self.assertRaisesRegex(tilecheck.NothingCheckedError, "only native answered"):
            tilecheck.crosscheck(DIE, "P=? [ F d=6 ]", engine="native")

    def test_simulate_repeats_a_seed(self) -> None:
        path = tilecheck.simulate(DIE, seed=7)
        self.assertEqual(list(path), list(tilecheck.simulate(DIE, seed=7)))
        self.assertEqual(path[0].variables, {"s": 0, "d": 0})
        self.assertEqual(path[len(path) - 1].variables["s"], 7)
        self.assertIn("seed 7", repr(path))

    def test_experiment(self) -> None:
        results = tilecheck.experiment(RETRY, "P=? [ F<=1 x=N ]", {"N": 1, "p": "0:0.5:1"})
        self.assertEqual([float(result) for result in results], [0, 0.5, 1])
        assert results.plot is not None
        self.assertTrue(parse_svg(results.plot).tag.endswith("svg"))

    def test_experiment_with_ranges_and_lists(self) -> None:
        results = tilecheck.experiment(RETRY, "P=? [ F<=9 x=N ]", {"N": range(1, 6, 2), "p": [0.5, 0.9]})
        self.assertEqual([(r.constants["p"], r.constants["N"]) for r in results], [(p, n) for p in (0.5, 0.9) for n in (1, 3, 5)])
        self.assertIsNone(results.plot)
        self.assertRaises(tilecheck.NothingCheckedError, tilecheck.experiment, RETRY, "P=? [ F x=N ]", {"N": [], "p": 0.5})

    def test_experiment_with_truth_values(self) -> None:
        results = tilecheck.experiment(RETRY, "P>=0.4 [ F<=1 x=N ]", {"N": 1, "p": "0:0.5:1"})
        self.assertEqual([result.holds for result in results], [False, True, True])
        self.assertIsNone(results.plot)

    def test_experiment_names_the_place_of_an_error(self) -> None:
        with self.assertRaises(tilecheck.TilecheckError) as caught:
            tilecheck.experiment(RETRY, "P=? [ F<=1 y=N ]", {"N": 1, "p": "0:0.5:1"})
        self.assertEqual((caught.exception.file, caught.exception.column), ("--prop", 12))

    def test_compare(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = tilecheck.compare("random", "orthogonal", size=2, max=8, method="states", exact=True, updates="rules")
        self.assertEqual([result.fields["strategy"] for result in results], ["random", "orthogonal"])
        self.assertTrue(all(result.fraction is not None for result in results))

    def test_compare_players(self) -> None:
        results = tilecheck.compare_players("random", "pref:left,up,down,right", size=2, max=8, games=50, seed=1)
        self.assertIn("random", repr(results))

    def test_explore(self) -> None:
        graph = tilecheck.explore(DIE)
        self.assertEqual((graph.kind, len(graph.states), len(graph.transitions), graph.initial), ("DTMC", 13, 20, [0]))
        self.assertEqual(graph.states[1].variables, {"s": 1, "d": 0})
        self.assertIn("done", graph.states[-1].labels)
        self.assertIn("<img", graph._repr_html_() or "", "a notebook shows HTML rather than SVG")
        texts = [element.text for element in parse_svg(graph.picture()).iter() if element.tag.endswith("text")]
        self.assertIn("s=7, d=6", texts)
        self.assertEqual(texts.count("0.5"), 14)

    def test_explore_an_mdp_with_fractions(self) -> None:
        with self.assertWarns(tilecheck.TilecheckWarning):
            graph = tilecheck.explore(CHOICE, exact=True)
        choices = [(t.choice, t.target, t.weight, t.action) for t in graph.transitions if t.source == 0]
        self.assertEqual(choices, [(0, 1, Fraction(1, 2), "left"), (0, 2, Fraction(1, 2), "left"), (1, 2, 1, "right")])
        self.assertEqual(graph.states[1].variables, {"x": 1, "b": True})

    def test_large_graphs_are_not_drawn(self) -> None:
        graph = tilecheck.explore("dtmc\nmodule M\n x:[0..300];\n [] x<300 -> (x'=x+1);\n [] x=300 -> true;\nendmodule\n")
        self.assertIsNone(graph._repr_svg_())
        self.assertIn("<table>", graph._repr_html_() or "")
        self.assertRaisesRegex(ValueError, "301 states", graph.picture)

    def test_export(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            dot = pathlib.Path(folder, "die.dot")
            tilecheck.export(DIE, dot)
            self.assertTrue(dot.read_text().startswith("digraph"))
            self.assertRaises(tilecheck.UsageError, tilecheck.export, DIE)


class TableTest(unittest.TestCase):
    def test_html(self) -> None:
        text = tilecheck.check(RETRY, "P>=0.4 [ F<=1 x<N ]", {"N": 1, "p": 0.5})._repr_html_()
        assert text is not None
        table = ElementTree.fromstring(f"<div>{text}</div>")
        cells = [cell.text for cell in table.iter("td")]
        self.assertEqual(cells[:3], ["P>=0.4 [ F<=1 x<N ]", "1", "0.5"])
        self.assertIn("<th>N</th>", text)

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "there is no pandas")
    def test_dataframe(self) -> None:
        frame = tilecheck.experiment(RETRY, "P=? [ F<=1 x=N ]", {"N": 1, "p": "0:0.5:1"}).to_dataframe()
        self.assertEqual(list(frame["p"]), [0, 0.5, 1])
        self.assertEqual(list(frame["value"]), [0, 0.5, 1])
        self.assertEqual(len(tilecheck.explore(DIE).to_dataframe()), 20)
        self.assertIn("s", tilecheck.simulate(DIE, seed=1).to_dataframe().columns)


if __name__ == "__main__":
    unittest.main()
