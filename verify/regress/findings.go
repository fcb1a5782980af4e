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
	fileNames, testsOfFile := r.testsByPropertiesFile()
	for _, name := range fileNames {
		findings = append(findings, r.fileFindings(r.options.name(name), testsOfFile[name])...)
	}
	findings = append(findings, r.unusedExtras()...)
	slices.SortStableFunc(findings, func(first, second report.TestFinding) int {
		return cmp.Or(cmp.Compare(first.File, second.File), cmp.Compare(first.Line, second.Line), cmp.Compare(first.Col, second.Col))
	})
	return findings
}

// testsByPropertiesFile returns the names of all properties files, in the order of the tests, and the tests of each file. It omits tests whose properties could
// not be parsed.
func (r *suiteRun) testsByPropertiesFile() (fileNames []string, testsOfFile map[string][]*loadedTest) {
	testsOfFile = make(map[string][]*loadedTest)
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
	return fileNames, testsOfFile
}

// unusedExtras returns a finding for each expectation outside of the properties files that no test uses.
func (r *suiteRun) unusedExtras() []report.TestFinding {
	isUsed := r.usedExtras()
	isReported := make(map[fileAndPosition]bool) // several tests may have the same expectation
	var findings []report.TestFinding
	for _, test := range r.tests {
		for i := range test.Extra {
			extra := &test.Extra[i]
			position := extra.position()
			if isUsed[position] || isReported[position] {
				continue
			}
			isReported[position] = true
			findings = append(findings, report.TestFinding{
				File: extra.File, Line: int(extra.Pos.Line), Col: int(extra.Pos.Col),
				Message: fmt.Sprintf("this expectation of %q fits no test", extra.Property),
			})
		}
	}
	return findings
}

// usedExtras returns the positions of the expectations outside of the properties files that at least one test uses. If a test cannot run, or imports results, it
// is unknown what the test uses; all its expectations then count as used.
func (r *suiteRun) usedExtras() map[fileAndPosition]bool {
	isUsed := make(map[fileAndPosition]bool)
	for _, test := range r.tests {
		isUnknown := test.err != nil || test.importsResults()
		for i := range test.Extra {
			if extra := &test.Extra[i]; isUnknown || test.usesExtra(extra) {
				isUsed[extra.position()] = true
			}
		}
	}
	return isUsed
}

// fileAndPosition is the place of an expectation outside of the properties files.
type fileAndPosition struct {
	file string
	pos  syntax.Pos
}

func (extra *Extra) position() fileAndPosition { return fileAndPosition{extra.File, extra.Pos} }

// usesExtra reports whether the test compares the result of a property instance with this expectation.
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
	isUsed := usedAnnotations(tests, property)
	var unused []expect.Mistake
	addIfUnused := func(start, end syntax.Pos, conditions []expect.Condition) {
		if !isUsed[start] && !containsMistake(mistakes, start, end) {
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
