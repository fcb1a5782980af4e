// Package lsp is a server of the Language Server Protocol, version 3.18. It handles messages, positions in UTF-16 and the folders of files; package
// editor handles the language.
//
// The server handles messages that change texts one after the other. It answers requests concurrently, from the texts at the time of the request,
// and a client can cancel them. It sends diagnostics a short time after the last change, and never diagnostics of an old text.
package lsp
