package main

import (
	"os"
	"strings"
	"testing"

	"tilecheck/report/table"
)

// TestReportWithoutPrivateNames: folders, the user's and the host's name are hidden; file names, versions and systems stay.
func TestReportWithoutPrivateNames(t *testing.T) {
	out := &table.Table{Columns: []table.Column{{Name: "name"}, {Name: "detail"}}}
	out.Append("a", `version 4.10, /home/ada/secret project/bin/prism, C:\Users\ada\storm.exe, linux/amd64, unix:///var/run/ada.sock`)
	if host, err := os.Hostname(); err == nil && len(host) > 2 {
		out.Append("b", "at "+host+": x")
	}
	hidePrivateData(out)
	var text strings.Builder
	if err := out.Write(&text, table.CSV, table.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, private := range []string{"/home", "/ada/", `\ada`, "/var", "Users"} {
		if strings.Contains(text.String(), private) {
			t.Errorf("%q is in the report:\n%s", private, text.String())
		}
	}
	for _, useful := range []string{"4.10", "prism", "storm.exe", "linux/amd64"} {
		if !strings.Contains(text.String(), useful) {
			t.Errorf("%q is not in the report:\n%s", useful, text.String())
		}
	}
}
