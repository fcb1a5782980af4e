package report

import "tilecheck/report/table"

// release is the version that JSON and HTML have in the goldens.
func release() string { return "1.2.3" }

// views are the ways every kind of report is printed in the goldens.
func views() []struct {
	suffix string
	format table.Format
	opt    table.Options
} {
	return []struct {
		suffix string
		format table.Format
		opt    table.Options
	}{
		{".txt", table.Text, table.Options{}},
		{".120.txt", table.Text, table.Options{Width: 120}},
		{".80.txt", table.Text, table.Options{Width: 80}},
		{".30.txt", table.Text, table.Options{Width: 30}},
		{".fancy.txt", table.Text, table.Options{Color: true, Unicode: true}},
		{".json", table.JSON, table.Options{Version: release, Command: "check"}},
		{".csv", table.CSV, table.Options{}},
		{".md", table.Markdown, table.Options{}},
	}
}
