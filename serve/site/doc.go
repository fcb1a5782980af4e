// Package site serves the page and its API from a web server on this machine, or exports them as
// files for any web server.
//
//	err := site.Serve(ctx, l, site.Options{API: serve.New(…)})
//	err := site.Export(ctx, dir, site.ExportOptions{})
//
// Only the page can use the API: the server checks its own name in requests (against DNS
// rebinding) and their origin (against other pages), an address that other machines can reach
// requires a token, and the Content-Security-Policy allows the page to load and run only its own
// files.
//
// The package knows nothing about models and does not decide which requests are allowed.
package site
