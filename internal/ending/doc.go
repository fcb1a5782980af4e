// Package ending says in one place why work ends before it is done: a signal or a
// time limit. Its contexts give that reason as their Err, so that whoever passes
// ctx.Err() on says it in words that a user understands, and no error reads
// "context canceled".
//
// It also keeps what must not be left behind when the process has to end at
// once: processes that were started, and files and directories that are
// temporary. It ends no process and hears no signals; cmd/tilecheck does.
package ending
