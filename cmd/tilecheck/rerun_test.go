package main

import (
	"slices"
	"testing"
)

// TestRerunNamesWhatRan: the line that repeats a result has every flag that decides which tool runs.
func TestRerunNamesWhatRan(t *testing.T) {
	var c testCmd
	c.Paths = []string{"my suite", "-odd"}
	c.PrismImage, c.StormImage = "prism:mine", "storm:mine"
	want := "tilecheck test --engine prism --prism-image prism:mine --no-cache --id X 'my suite' ./-odd"
	if got := c.rerunCommand("prism", "X"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	want = "tilecheck test --engine native,storm:exact --storm-image storm:mine --no-cache --id X 'my suite' ./-odd"
	if got := c.rerunCommand("native,storm:exact", "X"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestWithoutTimes: outputs that differ in times and speeds only are the same, and outputs with other values are not.
func TestWithoutTimes(t *testing.T) {
	for _, test := range []struct {
		name, first, second string
		isSame              bool
	}{
		{"CSV", "property,value,seconds,tool\n\"a,b\",1,0.25,x\n", "property,value,seconds,tool\n\"a,b\",1,7e-05,x\n", true},
		{"value in CSV", "property,value,seconds\na,1,0.25\n", "property,value,seconds\na,2,0.25\n", false},
		{"grid", "tile  seconds  value\n----  -------  -----\n   8    0.034   0.25\n", "tile  seconds  value\n----  -------  -----\n   8    1e-05   0.25\n", true},
		{"value in a grid", "tile  seconds  value\n----  -------  -----\n   8    0.034   0.25\n", "tile  seconds  value\n----  -------  -----\n   8    0.034   0.26\n", false},
		{"below a grid", "seconds\n-------\n  0.034\n\n2 games\n", "seconds\n-------\n  0.034\n\n3 games\n", false},
		{"facts", "states        13\nseconds  0.00123  to build\n", "states     13\nseconds  10.1  to build\n", true},
		{"Markdown", "| `a\\|b` | seconds |\n| :--- | ---: |\n| 1 | 0.25 |\n", "| `a\\|b` | seconds |\n| :--- | ---: |\n| 1 | 0.5 |\n", true},
		{"value in Markdown", "| value | seconds |\n| :--- | ---: |\n| 1 | 0.25 |\n", "| value | seconds |\n| :--- | ---: |\n| 2 | 0.25 |\n", false},
		{"facts in Markdown", "| item | value |\n| :--- | ---: |\n| seconds | 0.25 |\n", "| item | value |\n| :--- | ---: |\n| seconds | 3 |\n", true},
		{"short times", "| \\<1ms |\n", "| 1.5ms |\n", true},
		{"HTML", "<td>&lt;1ms</td>\n<dd>2026-11-27 23:06:00 UTC</dd>\n", "<td>20ms</td>\n<dd>2027-01-02 03:04:05 UTC</dd>\n", true},
		{"speed in CSV", "quantity,samples,value\nmoves per second,5,1.8e+06\n", "quantity,samples,value\nmoves per second,5,2.1e+06\n", true},
		{"speed in JSON", "\"moves per second\",\n\"value\": 1.5\n}\n", "\"moves per second\",\n\"value\": 2.5\n}\n", true},
		{"speeds", "won  moves/s\n---  -------\n0.2      123\n", "won  moves/s\n---  -------\n0.2  9999999\n", true},
		{"empty", "", "", true},
	} {
		if got := slices.Equal(withoutTimes([]byte(test.first)), withoutTimes([]byte(test.second))); got != test.isSame {
			t.Errorf("%s: same is %v, want %v:\n%q\n%q", test.name, got, test.isSame, withoutTimes([]byte(test.first)), withoutTimes([]byte(test.second)))
		}
	}
}
