package regress

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"tilecheck/bridge"
	"tilecheck/parse"
	"tilecheck/report"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/stats"
	"tilecheck/verify/expect"
	"tilecheck/verify/suite"
)

// tool runs PRISM with its own switches, and reads its output.
func (u *unit) tool(ctx context.Context) ([]answer, error) {
	answers := make([]answer, len(u.items))
	batches := u.batches()
	if len(batches) == 0 && u.wanted { // only exports
		batches = []*batch{{}}
	}
	for _, b := range batches {
		if err := u.toolBatch(ctx, b, answers); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

func (u *unit) toolBatch(ctx context.Context, b *batch, answers []answer) error {
	c, err := u.toolCommand(b)
	if err != nil {
		return err
	}
	t, cached, err := u.transcript(ctx, c.Command)
	if err != nil {
		return err
	}
	log := t.log()
	u.attributeTool(b, log, t, answers)
	for _, i := range b.items {
		answers[i].cached = cached
	}
	if b.terms == nil && u.wanted {
		u.toolExports(c, t, cached, log)
	}
	return nil
}

// toolCommand returns the command of a run of PRISM.
func (u *unit) toolCommand(b *batch) (*toolCommand, error) {
	c := &toolCommand{subject: u.subject, names: make(map[string]string)}
	o := &u.switches
	if o.Model != "" {
		c.Args = append(c.Args, c.file(o.Model, u.model))
	}
	if o.Props != "" {
		c.Args = append(c.Args, c.file(o.Props, u.props))
	}
	whole := b.terms == nil && len(b.items) == len(u.items)
	for i := range o.Switches {
		if err := c.addSwitch(&o.Switches[i], whole, b.terms != nil); err != nil {
			return nil, err
		}
	}
	if !whole && len(b.selected) > 0 {
		c.Args = append(c.Args, "-prop", strings.Join(b.selected, ","))
	}
	for _, def := range u.job.Consts {
		c.Args = append(c.Args, "-const", def)
	}
	if b.terms != nil {
		c.Args = append(c.Args, u.sampling(b.terms)...)
	}
	c.Args = append(c.Args, bridge.PRISMMemory(u.memory())...)
	c.Limits = runner.Limits{Time: u.limit(), Memory: u.memory()}
	c.Args = append(append(c.Args, u.entrant.PRISM.Args...), "-testall")
	return c, nil
}

// sampling returns the switches for terms of sampling.
func (u *unit) sampling(s *expect.Statistical) []string {
	float := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	args := []string{
		"-sim", "-simmethod", "ci", "-simsamples", strconv.FormatInt(s.Samples, 10),
		"-simconf", float(stats.Alpha(u.level(s))),
	}
	if s.MaxPath > 0 {
		args = append(args, "-simpathlen", strconv.FormatInt(s.MaxPath, 10))
	}
	if s.MaxReward > 0 {
		args = append(args, "-simmaxrwd", float(s.MaxReward))
	}
	return args
}

// toolCommand is an incomplete run of PRISM. Its files have names without a directory.
type toolCommand struct {
	runner.Command
	subject *subject
	names   map[string]string // in the run, by file
	exports []export
}

// export is a file to compare with the output of the run.
type export struct{ file, written string }

// exportPrefix begins the names of the files that a run writes.
const exportPrefix = "tmp."

// file adds a file and returns its name in the run.
func (c *toolCommand) file(name string, text []byte) string {
	if known, ok := c.names[name]; ok {
		return known
	}
	base := path.Base(name)
	for i := 1; slices.ContainsFunc(c.Files, func(f runner.File) bool { return f.Name == base }); i++ {
		base = strconv.Itoa(i) + "." + path.Base(name)
	}
	c.names[name] = base
	c.Files = append(c.Files, runner.File{Name: base, Data: text})
	return base
}

// add translates a switch of the test. sampled drops what exports and simulates.
func (c *toolCommand) addSwitch(s *suite.Switch, whole, sampled bool) error {
	words := s.Words
	switch name := s.Name(); {
	case slices.Contains([]string{"const", "test", "testall"}, name):
	case (name == "prop" || name == "property") && !whole:
	case sampled && (s.Export() || strings.HasPrefix(name, "sim")):
	case s.Import():
		target, err := c.importing(words[1])
		if err != nil {
			return err
		}
		c.Args = append(c.Args, words[0], target)
	case s.Export():
		c.Args = append(c.Args, words[0])
		for _, target := range words[1:] {
			c.Args = append(c.Args, c.exporting(target))
		}
	default:
		c.Args = append(c.Args, words...)
	}
	return nil
}

// importing adds the files of an import and returns its argument in the run.
func (c *toolCommand) importing(target string) (string, error) {
	file, options, more := strings.Cut(target, ":")
	found, err := importFiles(c.subject.opt.FS, path.Join(c.subject.Dir, file))
	if err != nil {
		return "", err
	}
	for _, name := range found {
		text, err := c.subject.read(name)
		if err != nil {
			return "", err
		}
		c.file(name, text)
	}
	arg := path.Base(file)
	if more {
		arg += ":" + options
	}
	return arg, nil
}

// exporting records the files to compare with an export, and returns its argument in the run.
func (c *toolCommand) exporting(target string) string {
	file, options, more := strings.Cut(target, ":")
	if file == "stdout" {
		return target
	}
	dir, base := path.Split(file)
	for _, name := range exportFiles(c.subject.opt.FS, path.Join(c.subject.Dir, dir, base)) {
		x := export{name, exportPrefix + path.Base(name)}
		c.exports = append(c.exports, x)
		c.Collect = append(c.Collect, x.written)
	}
	arg := exportPrefix + base
	if more {
		arg += ":" + options
	}
	return arg
}

// transcript is the output of a run.
type transcript struct {
	Stdout, Stderr []byte
	Code           int
	Cause          runner.Cause
	Files          []runner.File
}

// runTool runs a command.
func (u *unit) runTool(ctx context.Context, c runner.Command) (*transcript, error) {
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	exit, err := runner.Run(ctx, u.entrant.PRISM.Commander, c)
	if err != nil {
		return nil, err
	}
	return &transcript{stdout.Bytes(), stderr.Bytes(), exit.Code, exit.Cause, exit.Files}, nil
}

// log parses the output.
func (t *transcript) log() *parse.Log {
	p := parse.NewPRISM(parse.Options{})
	_, _ = p.Write(t.Stdout) // never fails
	_, _ = io.Copy(p.Stderr(), bytes.NewReader(t.Stderr))
	return p.Finish(bridge.End(runner.Exit{Code: t.Code, Cause: t.Cause}))
}

// attributeTool assigns the verdicts of the log to the items. An item without a verdict gets the failure of the run.
func (u *unit) attributeTool(b *batch, log *parse.Log, t *transcript, answers []answer) {
	verdicts := log.Verdicts()
	found := log.Attribute(len(b.items), func(i int, p *parse.Property) bool {
		it := u.items[b.items[i]]
		return p.Echoes(it.task.Name, it.task.Text, it.constants())
	})
	for n, i := range b.items {
		it, a := u.items[i], &answers[i]
		if k := found[n]; k < 0 {
			a.Err = runFailure(log)
		} else {
			a.Verdict = verdicts[k]
			a.Err = refusedBy(&log.Properties[k])
			if p := &log.Properties[k]; p.Err != nil && p.ValueText != "" {
				a.testing = p.Testing // PRISM has judged what we cannot read
			}
		}
		a.Property, a.Name, a.Engine, a.Constants = it.task.Text, it.task.Name, u.entrant.Called(), it.constants()
		a.Tool = log.Made(u.entrant.PRISM.Commander.Where())
		a.log = logText(t)
	}
}

// refusedBy returns the failure of a property. It is unsupported if PRISM says so, whatever its message looks like.
func refusedBy(p *parse.Property) *result.Failure {
	if p.Err == nil || !strings.HasPrefix(p.Testing, "UNSUPPORTED") {
		return p.Err
	}
	f := *p.Err
	f.Class = result.Unsupported
	return &f
}

// runFailure returns the reason why a run has no verdict about a property.
func runFailure(log *parse.Log) *result.Failure {
	if f := log.Failure(); f != nil {
		return f
	}
	return &result.Failure{Class: result.Truncated, Message: "the tool said nothing about this property"}
}

// maxLog is the largest size of an output in a result.
const maxLog = 64 << 10

func logText(t *transcript) string {
	text := string(t.Stdout) + string(t.Stderr)
	if len(text) > maxLog {
		text = text[:maxLog/2] + "\n[...]\n" + text[len(text)-maxLog/2:]
	}
	return text
}

// toolExports compares the files that PRISM wrote.
func (u *unit) toolExports(c *toolCommand, t *transcript, cached bool, log *parse.Log) {
	failed := log.Failure() != nil
	if len(u.items) == 0 && len(c.exports) == 0 && failed {
		u.addRunResult(u.failedRun(runFailure(log)), cached, logText(t))
		return
	}
	for _, x := range c.exports {
		k := slices.IndexFunc(t.Files, func(f runner.File) bool { return f.Name == x.written })
		var text []byte
		if k >= 0 {
			text = t.Files[k].Data
		}
		r := u.compareExport(x.file, text, k >= 0)
		if k < 0 && failed {
			r.Reason += ": " + runFailure(log).Message
		}
		u.addRunResult(r, cached, logText(t))
	}
	if len(u.items) == 0 && len(c.exports) == 0 {
		r := u.result(u.entrant, nil)
		r.Outcome, r.Reason = report.TestUnchecked, "there is no property, and no exported file to compare with"
		u.addRunResult(r, cached, "")
	}
}

// addRunResult adds a result about the whole run.
func (u *unit) addRunResult(r report.TestResult, cached bool, log string) {
	r.Cached = cached
	if r.Outcome != report.TestPassed {
		r.Log = log
	}
	u.whole = append(u.whole, r)
}

// failedRun returns the result of a failed run without properties.
func (u *unit) failedRun(f *result.Failure) report.TestResult {
	r := u.result(u.entrant, nil)
	r.Verdict = &result.Verdict{Engine: u.entrant.Called(), Err: f}
	r.Reason = f.Message
	switch {
	case f.Class == result.Unsupported:
		r.Outcome = report.TestUnsupported
	case f.Class.Limited():
		r.Outcome = report.TestLimit
	default:
		r.Outcome = report.TestError
		r.Reason = fmt.Sprintf("%s (%s)", f.Message, f.Class)
	}
	return r
}
