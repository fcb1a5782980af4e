package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	"tilecheck/editor"
	"tilecheck/editor/lsp"
	"tilecheck/report/stream"
	"tilecheck/serve"
)

// lspCmd is the language server.
type lspCmd struct {
	Const []string `help:"Values of undefined constants: a=1,b=0.5." sep:"none" placeholder:"DEFS"`
	Stdio bool     `hidden:"" help:"Use standard input and output. This is always so; some clients give the flag."`

	dialectFlag `embed:""`
}

// Run serves one editor, which communicates on standard input and standard output.
func (c *lspCmd) Run(ctx context.Context, env *environment) error {
	options := lsp.Options{Version: env.version(), Editor: editor.Options{Consts: c.Const, Dialect: dialect(c.Dialect)}}
	options.Check = checkInEditor(serve.New(serve.Options{Version: env.version()}))
	debug.SetGCPercent(400) // each typed key makes a new syntax tree, which is soon garbage: collect less often
	return lsp.Serve(ctx, env.stdin, stream.Raw(env.stdout), options)
}

// checkInEditor returns a function that the editor calls to check a property. The function returns the value as text.
func checkInEditor(api *serve.API) lsp.Check {
	return func(ctx context.Context, property *lsp.Question) (string, error) {
		question, err := json.Marshal(map[string]any{
			"file": property.Model, "model": string(property.ModelText), "props_file": property.Properties, "props": string(property.PropertiesText),
			"const": property.Constants, "select": []int{property.Index},
		})
		if err != nil {
			return "", err
		}
		var answer editorAnswer
		api.Answer(ctx, "check", bytes.NewReader(question), answer.addLine)
		return valuesText(answer.verdicts), answer.err
	}
}

// editorAnswer is the answer of the API to one check.
type editorAnswer struct {
	verdicts []editorVerdict
	err      error
}

// addLine adds one line of the answer, in JSON: a verdict, or the error that ended the check.
func (a *editorAnswer) addLine(line []byte, _ serve.Outcome) error {
	var message struct {
		Verdict *editorVerdict
		Error   *struct{ Message string }
	}
	if err := json.Unmarshal(line, &message); err != nil {
		return err
	}
	if message.Verdict != nil {
		a.verdicts = append(a.verdicts, *message.Verdict)
	}
	if message.Error != nil {
		a.err = errors.New(message.Error.Message)
	}
	return nil
}

// editorVerdict is what an editor shows of a verdict.
type editorVerdict struct {
	Constants map[string]any
	Value     any
	Short     *struct{ Value, Half string }
	Error     *struct{ Message string }
	Outcome   string
	Expected  string
}

// valuesText returns the values of a property as a short text. Several values are followed by their constants.
func valuesText(verdicts []editorVerdict) string {
	var texts []string
	for i := range verdicts {
		text := verdicts[i].valueText()
		if len(verdicts) > 1 {
			text += verdicts[i].constantsText()
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ")
}

// constantsText returns the values of the constants: " (N=3, p=0.5)".
func (v *editorVerdict) constantsText() string {
	var values []string
	for _, name := range slices.Sorted(maps.Keys(v.Constants)) {
		values = append(values, fmt.Sprintf("%s=%v", name, v.Constants[name]))
	}
	return " (" + strings.Join(values, ", ") + ")"
}

// valueText returns the value as a short text, such as "= 0.5 ± 1e-9" or "= true, want false".
func (v *editorVerdict) valueText() string {
	var text strings.Builder
	switch {
	case v.Value == nil && v.Error != nil:
		text.WriteString(v.Error.Message)
	case v.Short != nil && v.Short.Half != "":
		text.WriteString("= " + v.Short.Value + " ± " + v.Short.Half)
	case v.Short != nil:
		text.WriteString("= " + v.Short.Value)
	default:
		fmt.Fprintf(&text, "= %v", v.Value)
	}
	if v.Outcome == "FAIL" {
		text.WriteString(", want " + v.Expected)
	}
	return text.String()
}
