// Package serve is the API of the web page. It answers requests about models, properties and
// strategies for 2048.
//
//	api := serve.New(serve.Options{Version: "dev"})
//	api.Answer(ctx, "check", strings.NewReader(`{"model": …}`), send)
//
// The API has two transports: package serve/site puts it behind a web server, where a request is a
// POST to /api/NAME, and cmd/playground into a worker of the browser, which needs no net/http. A
// request is a JSON object. The answer is lines of JSON: any number of {"progress": …} and parts of the answer, then
// {"answer": …} or {"error": …}. A request contains everything it is about, including the text of
// the model; state spaces, values and tables of the game are cached between requests only to save
// time. So a worker can be stopped and restarted at any moment, and a closed tab leaves nothing
// behind.
//
// The package accesses no files except those in Options.Folders, does not listen on the network,
// and does not contain the page.
package serve
