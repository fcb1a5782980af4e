package draw

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

var (
	//go:embed graphviz.wasm
	graphvizCode []byte
	//go:embed NOTICE
	notice []byte
)

// SVG lays out a graph in Graphviz's language by the method "dot" and returns the picture.
//
// The error is Graphviz's complaint about the text, or that of ctx.
func SVG(ctx context.Context, dot string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	instance, err := newGraphviz(ctx)
	if err != nil {
		return nil, fmt.Errorf("start graphviz: %w", err)
	}
	svg, err := instance.render(ctx, dot)
	if message := strings.TrimSpace(instance.stderr.String()); err != nil && message != "" {
		err = errors.New(message)
	}
	if err := errors.Join(err, instance.runtime.Close(ctx)); err != nil {
		return nil, fmt.Errorf("draw graph: %w", err)
	}
	return svg, nil
}

// graphviz is a Graphviz that has started. Everything that it allocates is in its memory, and goes with it.
type graphviz struct {
	runtime wazero.Runtime
	module  api.Module
	stderr  *bytes.Buffer
}

// newGraphviz starts a Graphviz without access to anything. Compiling it takes most of the time that a picture takes, a second; where there
// is no compiler, it is interpreted.
func newGraphviz(ctx context.Context) (*graphviz, error) {
	config := wazero.NewRuntimeConfig().WithCloseOnContextDone(true)
	instance := &graphviz{runtime: wazero.NewRuntimeWithConfig(ctx, config), stderr: new(bytes.Buffer)}
	code, err := instance.runtime.CompileModule(ctx, graphvizCode)
	if err = errors.Join(err, ctx.Err()); err != nil {
		return nil, err
	}
	if err := instance.refuseCallbacks(ctx, code); err != nil {
		return nil, err
	}
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, instance.runtime); err != nil {
		return nil, err
	}
	instance.module, err = instance.runtime.InstantiateModule(ctx, code, wazero.NewModuleConfig().WithStderr(instance.stderr))
	return instance, err
}

// refuseCallbacks provides the functions through which go-graphviz lets plugins be written in Go. There are none, so none is called.
func (g *graphviz) refuseCallbacks(ctx context.Context, code wazero.CompiledModule) error {
	env := g.runtime.NewHostModuleBuilder("env")
	for _, function := range code.ImportedFunctions() {
		if module, name, _ := function.Import(); module == "env" {
			refuse := api.GoFunc(func(context.Context, []uint64) { panic(errors.New("call of " + name)) })
			env.NewFunctionBuilder().WithGoFunction(refuse, function.ParamTypes(), function.ResultTypes()).Export(name)
		}
	}
	_, err := env.Instantiate(ctx)
	return err
}

// render follows Graphviz's manual of its library: a context with its plugins, a graph, its layout, the picture.
func (g *graphviz) render(ctx context.Context, dot string) ([]byte, error) {
	library := &calls{ctx: ctx, graphviz: g}
	plugins := library.plugins()
	pluginContext := library.call("gvContextPlugins", plugins, 0)
	graph := library.call("agmemread", library.text(dot))
	if library.err == nil && graph == 0 {
		return nil, errors.New("the text is no graph")
	}
	if library.call("gvLayout", pluginContext, graph, library.text("dot")) != 0 && library.err == nil {
		return nil, errors.New("the graph has no layout")
	}
	out := library.bytes(make([]byte, 8))
	if library.call("gvRenderData", pluginContext, graph, library.text("svg"), out, out+4) != 0 && library.err == nil {
		return nil, errors.New("the layout has no picture")
	}
	return library.read(library.word(out), library.word(out+4)), library.err
}

// calls is a sequence of calls; after an error nothing more is done, and all results are 0.
type calls struct {
	*graphviz
	ctx context.Context
	err error
}

func (c *calls) call(name string, args ...uint64) uint64 {
	function := c.module.ExportedFunction(name)
	if function == nil && c.err == nil {
		c.err = fmt.Errorf("no function %s", name)
	}
	if c.err != nil {
		return 0
	}
	var results []uint64
	if results, c.err = function.Call(c.ctx, args...); c.err != nil || len(results) == 0 {
		return 0
	}
	return results[0]
}

// bytes copies data into the memory of the machine and returns where it is.
func (c *calls) bytes(data []byte) uint64 {
	at := c.call("malloc", uint64(len(data)))
	if c.err == nil && (at == 0 || !c.module.Memory().Write(uint32(at), data)) {
		c.err = errors.New("out of memory")
	}
	return at
}

// text copies a text and the zero that ends it.
func (c *calls) text(s string) uint64 { return c.bytes(append([]byte(s), 0)) }

func (c *calls) read(address, length uint64) []byte {
	if c.err != nil {
		return nil
	}
	data, ok := c.module.Memory().Read(uint32(address), uint32(length))
	if !ok {
		c.err = errors.New("a result is outside the memory")
	}
	return bytes.Clone(data)
}

func (c *calls) word(at uint64) uint64 {
	if data := c.read(at, 4); c.err == nil {
		return uint64(binary.LittleEndian.Uint32(data))
	}
	return 0
}

// plugins returns the array of pairs of a name and a library that gvContextPlugins wants, made of the list of those that are compiled in.
func (c *calls) plugins() uint64 {
	out := c.bytes(make([]byte, 8))
	c.call("wasm_bridge_SymList_default", out)
	list := c.word(out)
	var array []byte
	for i := range c.word(list) { // a length, then where pointers to pairs are
		pair := c.word(c.word(list+4) + 8*i)
		array = append(array, c.read(pair, 8)...)
	}
	return c.bytes(append(array, make([]byte, 8)...))
}

// Notice returns where Graphviz comes from, and on which terms, for those who pass the module on.
func Notice() []byte { return notice }

// GraphvizModule returns the WebAssembly module of Graphviz, for those who run it elsewhere: in a browser. It must not be changed.
func GraphvizModule() []byte { return graphvizCode }
