package scheduler_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"tilecheck/native/check"
	"tilecheck/native/explain/scheduler"
	"tilecheck/result"
)

func TestParseTarget(t *testing.T) {
	lists := scheduler.Options{States: true}
	tests := []struct {
		arg  string
		file string
		f    scheduler.Format
		opts scheduler.Options
		err  string
	}{
		{arg: "f.txt", file: "f.txt", f: scheduler.Actions, opts: lists},
		{arg: "stdout", file: "stdout", f: scheduler.Actions, opts: lists},
		{arg: "a/f.tra", file: "a/f.tra", f: scheduler.InducedModel, opts: lists},
		{arg: "f.dot", file: "f.dot", f: scheduler.Dot, opts: scheduler.Options{States: true, Reachable: true}},
		{arg: "f.json", file: "f.json", f: scheduler.JSON, opts: lists},
		{arg: `C:\f.tra`, file: `C:\f.tra`, f: scheduler.InducedModel, opts: lists},
		{arg: "f.tra:type=indices", file: "f.tra", f: scheduler.Indices, opts: lists},
		{arg: "f:type=model", file: "f", f: scheduler.InducedModel, opts: lists},
		{arg: "f.dot:reach=false, states = false,mode=restrict", file: "f.dot", f: scheduler.Dot, opts: scheduler.Options{Restrict: true}},
		{arg: "f:reach,type=induced,mode=reduce", file: "f", f: scheduler.InducedModel, opts: scheduler.Options{States: true, Reachable: true}},
		{arg: "f.prism:type=tree", file: "f.prism", f: scheduler.Tree, opts: lists},
		{arg: "f.all", err: "f.all: a scheduler is one file: want .json for its choices, .tra or .dot for the chain under it, or .txt for a list; resolve MODEL --scheduler FILE.json -o f.all writes the chain in other formats"},
		{arg: "f.tra,sta", err: "f.tra,sta: a scheduler is one file: want .json for its choices, .tra or .dot for the chain under it, or .txt for a list; resolve MODEL --scheduler FILE.json -o f.tra,sta writes the chain in other formats"},
		{arg: "f.prism", err: "f.prism: a scheduler is one file: want .json for its choices, .tra or .dot for the chain under it, or .txt for a list; resolve MODEL --scheduler FILE.json -o f.prism writes the chain in other formats"},
		{arg: "f.json.gz", err: "f.json.gz: schedulers are not compressed, want .json, .tra, .dot or .txt"},
		{arg: "f:type=yaml", err: `scheduler format "yaml", want actions, indices, induced, dot, json or tree`},
		{arg: "f:reach=no", err: `value "no" of the scheduler option reach, want true or false`},
		{arg: "f:mode=keep", err: `value "keep" of the scheduler option mode, want restrict or reduce`},
		{arg: "f:mode", err: "scheduler option mode without a value, want restrict or reduce"},
		{arg: "f:obs=true", err: "scheduler option obs is for partially observable models, whose schedulers are not computed"},
		{arg: "f:colour", err: `scheduler option "colour", want type, mode, reach, states or loss`},
	}
	for _, tt := range tests {
		file, f, opts, err := scheduler.ParseTarget(tt.arg)
		switch {
		case tt.err != "":
			if err == nil || err.Error() != tt.err {
				t.Errorf("%s: error %v, want %s", tt.arg, err, tt.err)
			}
		case err != nil || file != tt.file || f != tt.f || opts != tt.opts:
			t.Errorf("%s: %q %v %+v %v", tt.arg, file, f, opts, err)
		}
	}
}

const haste = `mdp module m s:[0..2]; done:bool; [slow] s=0 -> 0.5:(s'=1)+0.5:(s'=0); [] s=1 -> (s'=2)&(done'=true); [fast] s=0 -> 0.25:(s'=2)+0.75:(s'=0);
[] s=2 -> true; endmodule`

// TestJSON has the keys that Storm's files have: sorted, with states by name.
func TestJSON(t *testing.T) {
	const memoryless = `[
    {
        "c": [
            {
                "index": 0,
                "labels": [
                    "slow"
                ],
                "prob": 1
            }
        ],
        "s": {
            "done": false,
            "s": 0
        }
    },
    {
        "c": [
            {
                "index": 2,
                "labels": [],
                "prob": 1
            }
        ],
        "s": {
            "done": false,
            "s": 1
        }
    },
    {
        "c": "undefined",
        "s": {
            "done": false,
            "s": 2
        }
    },
    {
        "c": "undefined",
        "s": {
            "done": true,
            "s": 2
        }
    }
]
`
	if got := written(t, scheduled(t, haste, `Pmax=? [ F s=2&done ]`, check.Options{}), "f.json"); got != memoryless {
		t.Errorf("%s", got)
	}
	const steps = `    {
        "c": [
            {
                "index": 1,
                "labels": [
                    "fast"
                ],
                "memory-updates": [
                    {
                        "m'": 1,
                        "s'": {
                            "done": false,
                            "s": 2
                        }
                    },
                    {
                        "m'": 1,
                        "s'": {
                            "done": false,
                            "s": 0
                        }
                    }
                ],
                "prob": 1
            }
        ],
        "m": 0,
        "s": {
            "done": false,
            "s": 0
        }
    },
    {
        "c": "undefined",
        "m": 1,
`
	got := written(t, scheduled(t, haste, `Pmax=? [ F<=1 s=2 ]`, check.Options{}), "f.json")
	if !strings.HasPrefix(got, "[\n"+steps) {
		t.Errorf("%s", got)
	}
}

// TestExactSpace: an exact space writes the same doubles.
func TestExactSpace(t *testing.T) {
	double, exact := check.Options{}, check.Options{Accuracy: result.Exact}
	for _, target := range targets {
		got := written(t, scheduled(t, walk, `Pmax=? [ F x=4 ]`, exact), target)
		if want := written(t, scheduled(t, walk, `Pmax=? [ F x=4 ]`, double), target); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", target, got, want)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriteErrors(t *testing.T) {
	x := scheduled(t, haste, `Pmax=? [ F<=2 s=2 ]`, check.Options{})
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for f := scheduler.Actions; f <= scheduler.JSON; f++ {
		if err := scheduler.Write(t.Context(), full{}, x.Space, x.Choices, f, f.Defaults()); err == nil || err.Error() != "disk full" {
			t.Errorf("%v: error %v, want that of the writer", f, err)
		}
		if err := scheduler.Write(cancelled, &bytes.Buffer{}, x.Space, x.Choices, f, f.Defaults()); !errors.Is(err, context.Canceled) {
			t.Errorf("%v: error %v, want that of the context", f, err)
		}
		if err := scheduler.Write(t.Context(), &bytes.Buffer{}, x.Space, scheduler.Scheduler{{0}}, f, f.Defaults()); err == nil {
			t.Errorf("%v: no error for a scheduler that does not fit", f)
		}
	}
}
