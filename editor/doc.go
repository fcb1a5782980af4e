// Package editor is what an editor wants to know of model and property files while they
// are written: what is wrong, what a name means and where else it stands, what can
// stand here, how a file is laid out.
//
//	files := editor.New(editor.Options{}).With("m.prism", text).With("m.props", props)
//	found, err := files.Diagnostics(ctx, "m.props")
//	where, ok := files.Definition("m.props", offset)
//
// A [Files] is a snapshot: it does not change, and may be asked by many goroutines while
// the next one is made. What was found out about a text is kept as long as the text is, and
// what was found out about its commands is used for the next one.
//
// Places are byte offsets into texts; [Lines] turns them into lines and columns, also of
// UTF-16. The package knows of no protocol, reads no files and builds no states: a
// language server and a web page ask it alike.
package editor
