// Package site is the page with its API behind a web server on this machine, and the same as a folder of files that any web
// server can have.
//
//	err := site.Serve(ctx, l, site.Options{API: serve.New(…)})
//	err := site.Export(ctx, dir, site.ExportOptions{})
//
// It sees to it that nobody but the page asks the API: the names under which the server may be called and the origin
// of requests are checked (DNS rebinding, other people's pages), an address that others can reach needs a token, and
// the Content-Security-Policy lets the page run and load nothing but what is here.
//
// The package knows nothing about models, and does not decide what may be asked.
package site
