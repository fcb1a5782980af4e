package jani

import "strings"

// prismName introduces, in the comment of a transient variable, its name in PRISM's language.
const prismName = "in PRISM's language: "

// PRISMName returns the comment of a transient variable that stands for a label or a reward structure with another name. name is "" for a reward
// structure without a name. Variables of a JANI model need different names, but a variable, a label and a reward structure of PRISM may have the same name.
func PRISMName(name string) string { return prismName + name }

// readPRISMName returns the name that a label or reward structure has in PRISM's language: that of the comment, or else the name of the variable.
func readPRISMName(variable string, comment *jsonValue) string {
	if comment != nil && comment.kind == text {
		if name, isNamed := strings.CutPrefix(comment.text, prismName); isNamed {
			return name
		}
	}
	return variable
}
