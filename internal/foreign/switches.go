package foreign

import (
	"cmp"
	"strings"
)

// Switch is a switch of PRISM or Storm. It has either a translation to words of tilecheck's command line, or a reason why there is none.
type Switch struct {
	Names        []string // without dashes; messages show the first
	NumArguments int
	Words        string // the translation; {1} and {2} stand for the arguments, {1-} for one minus the first argument
	Command      string // the command of tilecheck that Words belongs to; empty for check
	// Needs has words without which Words has no effect. If the last one is in upper case, as in "-o FILE", only the user can choose it.
	Needs  string
	Reason string // why there is no translation; empty if there is one
	// IsNeedless is set if there is no translation because tilecheck always does what the switch asks for, or because the switch does not
	// change the values.
	IsNeedless     bool
	FitsAnyCommand bool   // Words can be added to the command that another switch needs
	NamesModel     bool   // the argument is the model file (Storm)
	NamesStates    bool   // the argument is a file of an explicit state space
	OptionalValues string // the possible values of an optional argument, separated by spaces
}

// Explain returns a sentence for the user: which command line of tilecheck means the same, or why there is none. word is the switch as the user
// wrote it.
func (s *Switch) Explain(word string) string {
	name := "-" + nameOf(word)
	command := cmp.Or(s.Command, "check")
	if s.FitsAnyCommand {
		command = "export"
	}
	switch {
	case s.Reason != "" && s.IsNeedless:
		return name + " is not needed: " + s.Reason
	case s.Reason != "":
		return name + " cannot be translated: " + s.Reason
	case s.Words == "{1}" && s.NamesStates:
		return name + " FILE means: tilecheck " + command + " FILE; the files of the same model are written MODEL.tra,sta,lab"
	case s.Words == "{1}": // the argument is the model
		return name + " MODEL means: tilecheck " + command + " MODEL"
	}
	if strings.Contains(s.Words, "{1") {
		name += " ARGUMENT"
	}
	return name + " means: tilecheck " + command + " MODEL" + arguments(s.Needs) + arguments(s.Words)
}

// arguments returns the words of a translation for a message, with a space before them, and with names instead of the numbers of arguments.
func arguments(words string) string {
	if words == "" {
		return ""
	}
	return " " + strings.NewReplacer("{1}", "ARGUMENT", "{1-}", "1-ARGUMENT", "{2}", "FILE").Replace(words)
}

// byName returns all switches by each of their names.
func byName() map[string]*Switch {
	switches := make(map[string]*Switch)
	for _, s := range Switches() {
		for _, name := range s.Names {
			switches[name] = &s
		}
	}
	return switches
}

// isSetting reports whether a name such as module:option is a setting of one of Storm's modules. These settings are for solvers and do not
// change the values.
func isSetting(name string) bool {
	module, _, ok := strings.Cut(name, ":")
	return ok && Lookup(module) == nil
}
