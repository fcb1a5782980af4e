package explicit_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/explicit/explicittest"
	"tilecheck/prism/compile"
)

const corpus = "../../../testdata/conformance"

// compiled compiles a model; constants are as for -const.
func compiled(t testing.TB, src string, consts ...string) *compile.Model {
	t.Helper()
	return explicittest.Compile(t, src, consts...)
}

func build(t testing.TB, src string, opts explicit.Options) *explicit.Space {
	t.Helper()
	s, err := explicit.Build(t.Context(), compiled(t, src), opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// run is what the corpus has of a run of PRISM.
type run struct {
	Command     string
	Exit        int
	ModelType   string `json:"model_type"`
	States      string
	Transitions string
	Choices     string
}

// modelCase is a model of the corpus that PRISM built, and where.
type modelCase struct {
	name, dir, src string
	consts         []string
	run
}

// outside are the models where we differ from PRISM on purpose, with the reason.
var outside = map[string]string{
	"rt_out_of_range":       "a value outside its range is an error",
	"rt_out_of_range_sym":   "a value outside its range is an error",
	"err_init_out_of_range": "an initial value outside its range is an error",
	"imdp_basic":            "interval models are not built",
	"pta_basic":             "timed models are not built",
}

// corpusModels returns the models of the corpus that PRISM built.
func corpusModels(t *testing.T) []modelCase {
	t.Helper()
	files, err := filepath.Glob(corpus + "/*/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	var out []modelCase
	for _, file := range files {
		c := modelCase{dir: filepath.Dir(file), name: filepath.Base(filepath.Dir(file))}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		e := struct {
			Run run `json:"$run"`
		}{}
		if err := json.Unmarshal(text, &e); err != nil {
			t.Fatal(err)
		}
		c.run = e.Run
		src, err := os.ReadFile(c.dir + "/model.prism")
		if err != nil || c.States == "" || outside[c.name] != "" || strings.Contains(c.Command, "-import") {
			continue
		}
		c.src = string(src)
		args := strings.Fields(c.Command)
		for i, a := range args[:len(args)-1] {
			if a == "-const" {
				c.consts = append(c.consts, args[i+1])
			}
		}
		out = append(out, c)
	}
	return out
}
