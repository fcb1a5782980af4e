package main

import "testing"

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
