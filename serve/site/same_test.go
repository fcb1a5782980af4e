package site_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"tilecheck/serve"
)

// The browser's WebAssembly gives the results of this machine to the last bit: every conformance case, from all states, with fractions
// and by sampling. Numbers are compared as they are written, which is with all digits.
func TestSameInBrowser(t *testing.T) {
	chromium := browser(t)
	questions, names := conformance(t)
	api := serve.New(serve.Options{})
	var here []any
	begun := time.Now()
	for _, q := range questions {
		var lines strings.Builder
		api.Answer(t.Context(), "check", strings.NewReader(q), func(line []byte, _ serve.Outcome) error { lines.Write(line); return nil })
		here = append(here, answerWithVerdicts(t, lines.String()))
	}
	native := time.Since(begun)

	p := visit(t, chromium, "playground", playgroundOf(t))
	there := make([]any, 0, len(questions))
	begun = time.Now()
	for _, q := range questions {
		text, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](
			`import('./api.js').then(({ask}) => { const lines = []; return ask('check', `+q+`, {part: (name, v) => { if (name === 'verdict') lines.push(JSON.stringify({verdict: v})); }}).then((answer) => lines.concat(JSON.stringify({answer})).join('\n'), (e) => JSON.stringify({error: {message: e.message}})); })`,
			chromedp.EvalAwaitPromise))
		if err != nil {
			t.Fatal(err)
		}
		there = append(there, answerWithVerdicts(t, text))
	}
	browser := time.Since(begun)
	answered := 0
	for i := range questions {
		a, b := plain(here[i]), plain(there[i])
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s\nhere:  %.600s\nthere: %.600s", names[i], js(a), js(b))
		}
		if m, ok := a.(map[string]any); ok && m["answer"] != nil {
			answered++
		}
	}
	if answered < 300 {
		t.Errorf("%d answers were compared, want 300 at least", answered)
	}
	t.Logf("%d questions, %d of them with an answer; native %v, in the browser %v", len(questions), answered, native, browser)
}

// conformance returns the cases as questions.
func conformance(t *testing.T) (questions, names []string) {
	t.Helper()
	models, err := filepath.Glob("../../testdata/conformance/*/model.prism")
	if err != nil || len(models) < 100 {
		t.Fatalf("%d models, %v", len(models), err)
	}
	for _, file := range models {
		model, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		props, err := os.ReadFile(filepath.Join(filepath.Dir(file), "props.props"))
		if err != nil {
			continue
		}
		for _, more := range [][]any{{}, {"accuracy", "exact"}, {"method", "ci", "samples", 200, "seed", 7}} {
			more = append(more, "file", "model.prism", "props_file", "props.props")
			questions = append(questions, object(string(model), string(props), more...))
			names = append(names, file)
		}
	}
	return questions, names
}

// answerWithVerdicts returns the last line of a reply, with the verdicts of the lines before it if it is an answer.
func answerWithVerdicts(t *testing.T, text string) any {
	t.Helper()
	var verdicts []any
	var out map[string]any
	for line := range strings.Lines(strings.TrimSpace(text)) {
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		out = nil
		if err := d.Decode(&out); err != nil {
			t.Fatalf("%v: %.300s", err, text)
		}
		if v, ok := out["verdict"]; ok {
			verdicts = append(verdicts, v)
		}
	}
	if out["answer"] != nil {
		out["verdicts"] = verdicts
	}
	return out
}

// plain leaves out times, and of an error all but what it says.
func plain(x any) any {
	switch x := x.(type) {
	case map[string]any:
		delete(x, "seconds")
		delete(x, "time")
		if e, ok := x["error"].(map[string]any); ok && len(x) == 1 {
			return e["message"]
		}
		for k, v := range x {
			x[k] = plain(v)
		}
	case []any:
		for i := range x {
			x[i] = plain(x[i])
		}
	case json.Number:
		f, err := x.Float64() // the page has read the number, and written it in its own way
		if err == nil {
			return f
		}
	}
	return x
}

func js(x any) string {
	text, err := json.Marshal(x)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
