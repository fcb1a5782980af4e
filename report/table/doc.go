// Package table prints what a command found, in rows and columns or as
// records, for people and for programs: text, Markdown, CSV and the one JSON
// object of docs/json.md. It knows no verdicts and no tests, and does not look
// at the terminal or the environment ([Options] says what the writer can show).
//
//	t := &table.Table{Columns: []table.Column{{Name: "name"}, {Name: "states", Align: table.Right}}}
//	t.Append("die", 13)
//	err := t.Write(os.Stdout, format, table.Options{Width: 100})
package table
