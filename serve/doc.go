// Package serve answers the questions of the page: what a model means and does, why a property has
// its value, how a strategy plays.
//
//	h := serve.New(serve.Options{Version: "dev"})
//	http.ListenAndServe("localhost:8000", h) // package serve/site does it safely
//
// There is one API and there are two transports: package serve/site has it behind a web server, and
// cmd/playground in a worker of the browser, as the same http.Handler. Each request is a POST of an
// object of JSON to /api/NAME, and its answer is lines of JSON: any number of {"progress": …} and
// parts of the answer, then {"answer": …} or {"error": …}. Every request says all it is about, the text of the
// model included; what is kept between requests (states, values, tables of the game) only saves time. So a
// worker can be ended and begun again at any moment, and a closed tab leaves nothing behind.
//
// The package knows no files but those of Options.Folders, listens nowhere and has no page.
package serve
