package main

import (
	"errors"
	"strings"

	"tilecheck/modelgen"
	"tilecheck/native/space/files/named"

	"tilecheck/internal/quote"

	"tilecheck/prism/jani"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// jobFlags are a model and its properties.
type jobFlags struct {
	ModelFile string   `arg:"" name:"model" help:"PRISM or JANI model, - (standard input), or exported states: m.all, m.tra,sta, m.drn, m.umb." file:"states"`
	PropsFile string   `arg:"" name:"props" optional:"" help:"Properties file." file:"in"`
	Prop      []string `help:"Property, or its number or name; repeatable." sep:"none" placeholder:"PROPERTY"`
	Select    []string `help:"Only the properties with these names or numbers." placeholder:"NAME"`
	Const     []string `help:"Values of undefined constants: a=1,b=0.1:0.1:0.5." sep:"none" placeholder:"DEFS"`

	dialectFlag `embed:""`

	mayLackProperties bool // whether the command also does something without properties
}

// dialectFlag selects the language of models and properties.
type dialectFlag struct {
	Dialect string `rare:"" help:"Language of the texts: prism or storm." default:"prism" enum:"prism,storm" placeholder:"DIALECT"`
}

// dialect returns the dialect with a name: Storm's for "storm", and otherwise PRISM's.
func dialect(name string) syntax.Dialect {
	if name == "storm" {
		return syntax.Storm
	}
	return syntax.PRISM
}

// errNoProperty is the error of a command line that has a model and nothing to check.
var errNoProperty = errors.New("no property: give a properties file or --prop")

// readJob reads the model and the properties, and returns the job that the flags describe.
func (c *jobFlags) readJob(env *environment) (runner.Job, error) {
	job := runner.Job{File: c.ModelFile, PropsFile: c.PropsFile, Props: c.Prop, Select: c.Select, Consts: c.Const, Dialect: dialect(c.Dialect), Generated: modelgen.Recognizer{}}
	env.rememberProps(&job, "--prop")
	if err := c.checkFileNames(); err != nil {
		return job, err
	}
	if err := c.readModelText(env, &job); err != nil {
		return job, err
	}
	if c.PropsFile == "" && len(c.Prop) == 0 && !jani.IsJANI(job.Model) && !c.mayLackProperties {
		return job, usageError("%w, for example --prop %s", errNoProperty, quote.Word(exampleProperty(&job)))
	}
	var err error
	if c.PropsFile != "" {
		if job.Properties, err = env.readSource(c.PropsFile); err != nil {
			return job, err
		}
	}
	if named.Is(c.PropsFile) {
		return job, usageError("%s", runner.WrongWay(job.File, job.PropsFile))
	}
	return job, nil
}

// checkFileNames returns a usage error if model and properties both come from standard input, or if the user wrote a property where a file is
// expected.
func (c *jobFlags) checkFileNames() error {
	if c.PropsFile == "-" && c.ModelFile == "-" {
		return usageError("model and properties cannot both be standard input")
	}
	for _, name := range []string{c.ModelFile, c.PropsFile} {
		if noSuchFile(name) && isProperty(name) {
			return usageError("%s: no such file; it is a property, want --prop %s", name, quote.Word(name))
		}
	}
	return nil
}

// readModelText stores the text of the model in the job. It does nothing if the model is given as files of states.
func (c *jobFlags) readModelText(env *environment, job *runner.Job) (err error) {
	if !namesStates(c.ModelFile) {
		job.Model, err = env.readSource(c.ModelFile)
	}
	return err
}

// explainSwappedFiles replaces a syntax error by a hint if the user swapped the model and the properties file.
func explainSwappedFiles(err error, job *runner.Job) error {
	if planErr, ok := errors.AsType[*runner.PlanError](err); ok && planErr.Step == result.Parse {
		if hint := job.Misplaced(); hint != "" {
			return usageError("%s", hint)
		}
	}
	return err
}

// isProperty reports whether an argument is the text of a property and not the name of a file.
func isProperty(arg string) bool {
	if !strings.ContainsAny(arg, "[?\"") {
		return false
	}
	props, err := syntax.ParsePropertiesOf(syntax.Storm, "", []byte(arg))
	return err == nil && len(props.Items) > 0
}
