package regress

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tilecheck/prism/syntax"
	"tilecheck/report"
	"tilecheck/verify/expect"
)

// findings returns the mistakes in annotations, and the annotations and other expectations that no test uses, sorted by position.
func (r *suiteRun) findings() []report.TestFinding {
	var findings []report.TestFinding
	testsOfFile := make(map[string][]*loadedTest) // by the name of the properties file
	var fileNames []string
	for _, test := range r.tests {
		if test.propsTree == nil {
			continue
		}
		name := test.switches.Props
		if testsOfFile[name] == nil {
			fileNames = append(fileNames, name)
		}
		testsOfFile[name] = append(testsOfFile[name], test)
	}
	for _, name := range fileNames {
		findings = append(findings, r.fileFindings(r.options.name(name), testsOfFile[name])...)
	}
	findings = append(findings, r.unusedExtras()...)
	slices.SortStableFunc(findings, func(first, second report.TestFinding) int {
		return cmp.Or(cmp.Compare(first.File, second.File), cmp.Compare(first.Line, second.Line), cmp.Compare(first.Col, second.Col))
	})
	return findings
}

// unusedExtras returns a finding for each expectation that no test uses. It looks only at expectations outside of properties files.
func (r *suiteRun) unusedExtras() []report.TestFinding {
	type position struct {
		file string
		pos  syntax.Pos
	}
	used := make(map[position]bool)
	var extras []*Extra // without repetitions, although several tests may share one
	for _, test := range r.tests {
		for i := range test.Extra {
			extraFile := &test.Extra[i]
			key := position{extraFile.File, extraFile.Pos}
			if _, isListed := used[key]; !isListed {
				extras = append(extras, extraFile)
			}
			mayUse := test.err != nil || test.importsResults() // what such a test uses is unknown
			used[key] = used[key] || mayUse || test.usesExtra(extraFile)
		}
	}
	var findings []report.TestFinding
	for _, extraFile := range extras {
		if used[position{extraFile.File, extraFile.Pos}] {
			continue
		}
		findings = append(findings, report.TestFinding{
			File: extraFile.File, Line: int(extraFile.Pos.Line), Col: int(extraFile.Pos.Col), Message: fmt.Sprintf("this expectation of %q fits no test", extraFile.Property),
		})
	}
	return findings
}

// usesExtra reports whether a property instance of the test has chosen this expectation.
func (test *loadedTest) usesExtra(extra *Extra) bool {
	return slices.ContainsFunc(test.instances, func(instance *propertyInstance) bool {
		usesResult := extra.Result != nil && slices.Contains(instance.usedExtras, extra.Result.Pos)
		usesTerms := extra.Terms != nil && slices.Contains(instance.usedExtras, extra.Terms.Pos)
		return usesResult || usesTerms
	})
}

// fileFindings returns the findings about one properties file. tests are all tests of the file.
func (r *suiteRun) fileFindings(name string, tests []*loadedTest) []report.TestFinding {
	text, propsTree := tests[0].propsText, tests[0].propsTree
	mistakes := expect.Check(text, propsTree)
	allMistakes := slices.Clone(mistakes)
	for _, item := range propsTree.Items {
		property, ok := item.(*syntax.Property)
		if ok && checkedByTests(tests, property) {
			allMistakes = append(allMistakes, unusedAnnotations(tests, property, mistakes)...)
		}
	}
	var findings []report.TestFinding
	for _, mistake := range allMistakes {
		findings = append(findings, report.TestFinding{File: name, Line: int(mistake.Pos.Line), Col: int(mistake.Pos.Col), Message: mistake.Msg})
	}
	return findings
}

// unusedAnnotations returns a mistake for each annotation of a property that no test uses. It omits annotations that already have a mistake in
// mistakes. All tests have the same properties file.
func unusedAnnotations(tests []*loadedTest, property *syntax.Property, mistakes []expect.Mistake) []expect.Mistake {
	text := tests[0].propsText
	used := usedAnnotations(tests, property)
	var unused []expect.Mistake
	addIfUnused := func(start, end syntax.Pos, conditions []expect.Condition) {
		if !used[start] && !containsMistake(mistakes, start, end) {
			unused = append(unused, expect.Mistake{Pos: start, Msg: "this annotation fits no test" + unknownNames(tests, conditions)})
		}
	}
	for _, expectation := range expect.Parse(text, property) {
		addIfUnused(expectation.Pos, expectation.End, expectation.Conditions)
	}
	for _, terms := range expect.ParseTerms(text, property) {
		addIfUnused(terms.Pos, terms.End, terms.Conditions)
	}
	return unused
}

// containsMistake reports whether a mistake is between two positions.
func containsMistake(mistakes []expect.Mistake, start, end syntax.Pos) bool {
	return slices.ContainsFunc(mistakes, func(mistake expect.Mistake) bool {
		return start.Compare(mistake.Pos) <= 0 && mistake.Pos.Compare(end) < 0
	})
}

// checkedByTests reports whether all tests can run and at least one of them checks the property.
func checkedByTests(tests []*loadedTest, property *syntax.Property) bool {
	for _, test := range tests {
		if test.err != nil || test.importsResults() {
			return false
		}
	}
	isOfProperty := func(instance *propertyInstance) bool { return instance.task.Pos == property.Pos() }
	checksProperty := func(test *loadedTest) bool { return slices.ContainsFunc(test.instances, isOfProperty) }
	return slices.ContainsFunc(tests, checksProperty)
}

// usedAnnotations returns the positions of the annotations of a property, in its properties file, that at least one test uses.
func usedAnnotations(tests []*loadedTest, property *syntax.Property) map[syntax.Pos]bool {
	used := make(map[syntax.Pos]bool)
	for _, test := range tests {
		for _, instance := range test.instances {
			if instance.task.Pos == property.Pos() {
				instance.addUsedAnnotations(used)
			}
		}
	}
	return used
}

// addUsedAnnotations adds the positions of the annotations that the instance uses: its expected result and its terms. It omits expectations from
// outside of the properties file.
func (instance *propertyInstance) addUsedAnnotations(positions map[syntax.Pos]bool) {
	expected, terms := instance.annotations.Result, instance.annotations.Terms
	if expected != nil && instance.extraPosition == "" {
		positions[expected.Pos] = true
	}
	if terms != nil && !slices.Contains(instance.usedExtras, terms.Pos) {
		positions[terms.Pos] = true
	}
}

// unknownNames returns the end of a message, such as ": there is no constant N, K". It names the constants in the conditions that no test
// declares. It is empty if there are none.
func unknownNames(tests []*loadedTest, conditions []expect.Condition) string {
	var unknown []string
	for _, condition := range conditions {
		declares := func(test *loadedTest) bool { return test.hasConstant(condition.Name) }
		if condition.IsWellFormed && !slices.ContainsFunc(tests, declares) {
			unknown = append(unknown, condition.Name)
		}
	}
	if len(unknown) == 0 {
		return ""
	}
	return fmt.Sprintf(": there is no constant %s", strings.Join(unknown, ", "))
}

// hasConstant reports whether the constant has a value in this instance.
func (instance *propertyInstance) hasConstant(name string) bool {
	for _, constant := range instance.rules.Constants {
		if constant.Name == name {
			return true
		}
	}
	return false
}

// hasConstant reports whether the constant has a value in an instance of the test.
func (test *loadedTest) hasConstant(name string) bool {
	return slices.ContainsFunc(test.instances, func(instance *propertyInstance) bool { return instance.hasConstant(name) })
}
