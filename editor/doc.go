// Package editor answers the questions of an editor about model and property files while they are
// edited: their errors, where a name is declared and used, how a word can be completed, and how a
// file is formatted.
//
//	files := editor.New(editor.Options{}).With("m.prism", text).With("m.props", props)
//	found, err := files.Diagnostics(ctx, "m.props")
//	where, ok := files.Definition("m.props", offset)
//
// A [Files] is an immutable snapshot, which many goroutines may use while the next one is made.
// Results for a text are cached with it, and results for unchanged commands are reused for the
// next text.
//
// Positions are byte offsets; [Lines] converts them to lines and columns, also in UTF-16. The
// package knows no protocol, reads no files and builds no state spaces. The language server and
// the web page both use it.
package editor
