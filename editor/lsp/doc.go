// Package lsp answers the Language Server Protocol, version 3.18, from package editor: it
// knows messages, positions in UTF-16 and the folders of files, and nothing of the
// language.
//
// Messages that change texts are handled in the order in which they come; requests are
// answered meanwhile, from the texts as they were when the request came, and stop when
// they are cancelled. Diagnostics are sent a moment after the last change, and those of a
// text that has changed meanwhile are not sent.
package lsp
