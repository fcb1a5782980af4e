package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	"tilecheck/cmd/tilecheck/toolbox"
	"tilecheck/game/solve"
	"tilecheck/internal/ending"
	"tilecheck/internal/tempdir"
	"tilecheck/native"
	"tilecheck/runner"
	"tilecheck/serve"
	"tilecheck/serve/site"
)

type serveCmd struct {
	Paths []string `arg:"" optional:"" name:"path" help:"Folders and files that the page may read and write." file:"none"`

	Listen string        `help:"Address and port to listen on (default: localhost:8048, or the next free port)." placeholder:"ADDR"`
	Export string        `help:"Write the page as files for any web server, which then needs no tilecheck, and end. Works in releases; other builds must be started in the directory of their source and need Go." placeholder:"DIR" file:"none"`
	Table  []string      `name:"solved" aliases:"table" help:"Files of tilecheck solve --output: on their boards, hints are probabilities of winning with optimal play." placeholder:"FILE" file:"in"`
	Limit  time.Duration `name:"timeout" aliases:"limit" help:"Time that one request may take." default:"5m" placeholder:"DURATION"`

	MaxStates   int       `help:"Give up a state space with more states (default: 20000000)." default:"20000000" placeholder:"N"`
	Memory      byteCount `help:"Memory of the states of one model, such as 4GB." default:"4GB" placeholder:"SIZE"`
	Engine      []string  `help:"Engines besides native that experiments can use: prism, prism-games, storm." placeholder:"NAME"`
	engineFlags `embed:""`
}

// Run serves the page until the user interrupts it. With --export it writes the page to files instead.
func (c *serveCmd) Run(ctx context.Context, env *environment) (err error) {
	if err := env.refuseToolFlags(c.Engine); err != nil {
		return err
	}
	if c.Export != "" {
		return c.exportPage(ctx, env)
	}
	tables, err := openTables(ctx, c.Table)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeTables(tables)) }()
	folders, err := serve.OpenFolders(c.Paths)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folders.Close()) }()
	listener, err := c.listen(ctx, env)
	if err != nil {
		return err
	}
	tools := env.newToolbox(c.engineFlags, c.Memory, c.Limit)
	defer func() { err = errors.Join(err, tools.Close()) }()
	apiOptions := serve.Options{Version: env.version(), Tables: tables, Limits: serve.Limits{Time: c.Limit, States: c.MaxStates, Memory: int64(c.Memory)}}
	if len(c.Paths) > 0 {
		apiOptions.Folders = folders
	}
	if apiOptions.Engines, err = c.toolEngines(ctx, tools); err != nil {
		return errors.Join(err, listener.Close())
	}
	siteOptions := site.Options{Token: token(), API: serve.New(apiOptions)}
	printAddress(env, listener.Addr(), siteOptions.Token)
	env.markOutputStarted()
	return site.Serve(ctx, listener, siteOptions)
}

// toolEngines returns the engines of --engine. It omits the native engine, which the page always has.
func (c *serveCmd) toolEngines(ctx context.Context, tools *toolbox.Box) ([]runner.Engine, error) {
	var engines []runner.Engine
	for _, name := range c.Engine {
		engine, err := tools.Engine(ctx, name)
		if err != nil {
			return nil, err
		}
		if engine.Name() != native.Name {
			engines = append(engines, engine)
		}
	}
	return engines, nil
}

// printAddress prints the address of the page, which contains the token, and notes about access from other machines.
func printAddress(env *environment, addr net.Addr, token string) {
	host, port, isEverywhere := addressOf(addr)
	fmt.Fprintf(env.stdout, "http://%s/#token=%s\n", net.JoinHostPort(host, port), token)
	if env.quiet {
		return
	}
	fmt.Fprintln(env.stderr, "open this address in a browser; its token lets everybody who has it use the page; Ctrl-C ends")
	if name, err := os.Hostname(); isEverywhere && err == nil {
		fmt.Fprintf(env.stderr, "other machines reach it as %s, with the same token\n", net.JoinHostPort(name, port))
	}
}

const (
	defaultHost = "localhost"
	defaultPort = 8048
	morePorts   = 20 // that are tried when the first one is taken
)

// listen listens on the address of --listen. Without this flag, it listens on the first of the default ports that is free.
func (c *serveCmd) listen(ctx context.Context, env *environment) (net.Listener, error) {
	var config net.ListenConfig
	if c.Listen != "" {
		listener, err := config.Listen(ctx, "tcp", c.Listen)
		if errors.Is(err, syscall.EADDRINUSE) {
			host, _, _ := net.SplitHostPort(c.Listen)
			return nil, fmt.Errorf("--listen %s: another program has this port, want another one, or %s for any free one", c.Listen, net.JoinHostPort(host, "0"))
		}
		if _, _, splitErr := net.SplitHostPort(c.Listen); splitErr != nil {
			return nil, usageError("--listen %s: want an address and a port, such as localhost:8048 or :8048", c.Listen)
		}
		return listener, err
	}
	return listenDefault(ctx, env)
}

// listenDefault listens on the first of the default ports that is free. It prints a note if this is not defaultPort.
func listenDefault(ctx context.Context, env *environment) (net.Listener, error) {
	var config net.ListenConfig
	for port := defaultPort; ; port++ {
		listener, err := config.Listen(ctx, "tcp", net.JoinHostPort(defaultHost, strconv.Itoa(port)))
		if !errors.Is(err, syscall.EADDRINUSE) {
			if err == nil && port > defaultPort && !env.quiet {
				fmt.Fprintf(env.stderr, "note: another program has port %d, so the page is at port %d\n", defaultPort, port)
			}
			return listener, err
		}
		if port == defaultPort+morePorts {
			return nil, fmt.Errorf("other programs have the ports %d to %d, want --listen %s:0 for any free one", defaultPort, port, defaultHost)
		}
	}
}

// addressOf returns the host and the port with which a browser on this machine finds the page. everywhere is true if the program listens on all
// addresses.
func addressOf(address net.Addr) (host, port string, everywhere bool) {
	host, port, _ = net.SplitHostPort(address.String())
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		return defaultHost, port, true
	}
	return host, port, false
}

// openTables opens the tables of solved games. If one cannot be opened, it closes all others.
func openTables(ctx context.Context, names []string) (tables []*solve.Table, err error) {
	for _, name := range names {
		table, err := openTable(ctx, name)
		if err != nil {
			return nil, errors.Join(err, closeTables(tables))
		}
		tables = append(tables, table)
	}
	return tables, nil
}

// openTable opens the table of a solved game. It returns an error if the values of the table are not probabilities of winning.
func openTable(ctx context.Context, name string) (*solve.Table, error) {
	var table *solve.Table
	openErr := errors.New("not opened")
	if err := ending.Await(ctx, func() { table, openErr = solve.Open(name) }); err != nil {
		return nil, err
	}
	if openErr == nil && !serve.Winning(table.Problem()) {
		openErr = errors.Join(usageError("--solved: %s is of %s, want the probability of winning, as tilecheck solve writes it by default", name, table.Problem()), table.Close())
	}
	return table, openErr
}

// closeTables closes tables of solved games.
func closeTables(tables []*solve.Table) (err error) {
	for _, table := range tables {
		err = errors.Join(err, table.Close())
	}
	return err
}

// token returns a random secret as text.
func token() string {
	var b [24]byte
	_, _ = rand.Read(b[:]) // which never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// exportPage writes the page to files, which a browser can show without a server of tilecheck.
func (c *serveCmd) exportPage(ctx context.Context, env *environment) error {
	if len(c.Table) > 0 {
		return usageError("--export writes a page without tables, found %s", c.Table[0])
	}
	if len(c.Paths) > 0 {
		return usageError("--export writes a page without models, want no path, found %s", c.Paths[0])
	}
	if err := os.MkdirAll(c.Export, 0o777); err != nil {
		return err
	}
	workDir, removeDir, err := tempdir.Make(ctx)
	if err != nil {
		return err
	}
	page, err := site.Make(ctx, workDir)
	if err := errors.Join(err, removeDir()); err != nil {
		return err
	}
	return env.writeSet(nil, func(write writeFile) error { return site.Export(c.Export, page, write) })
}
