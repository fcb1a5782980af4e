// Package containers runs tools in Docker containers: it implements
// runner.Commander over an image, on testcontainers-go and the moby client.
//
//	err := containers.Prepare(ctx, os.LookupEnv, os.Setenv) // once, in main
//	d, err := containers.Connect(ctx)
//	pool, err := containers.NewPool(ctx, d, containers.Options{Tool: storm.Tool(), Image: storm.DefaultImage, Jobs: 4})
//	exit, err := pool.Run(ctx, runner.Command{Args: args, Files: files, Limits: limits, Stdout: out, Stderr: complaints})
//
// A [Pool] keeps a running container for each of its jobs and starts the tool in
// it by exec. A [Container] is one of them; it has the interface of the modules of
// testcontainers-go (packages prism and storm). A run that does not end by itself
// ends its container, so that no process of it remains.
//
// Isolation: no network, a read-only root file system, user 65534, no capabilities
// and no new privileges, no swap, limits of memory, CPUs and processes. Files are
// copied in and out through the API, into a separate folder for each run.
//
// Time limits: an engine may give the tool a limit of its own. timeout(1) ends the
// tool a little after Limits.Time of package runner, and some seconds later this
// package ends the container. An image must therefore contain the tool, cat and
// timeout.
//
// Clean-up: a container is removed when its run or its pool ends. It also ends when
// this process is killed, because it runs only as long as its standard input is
// open. Ryuk is used if its image is on the machine ([Prepare]). Every container
// has our labels, by which [Docker.Sweep] finds it.
//
// docs/impl-containers.md explains the cost of a run, and why the package uses exec
// and not PRISM's nailgun. The package does not interpret the output of tools.
// docs/impl-containers.md. The package knows nothing of what tools say.
package containers
