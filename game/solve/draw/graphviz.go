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

// SVG returns a picture of a graph, which is a text in the language of Graphviz. The method "dot" computes the layout. The error is a message of
// Graphviz, or an error of ctx.
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

// newGraphviz starts Graphviz as a WebAssembly module without access to files or the network. Its compilation takes about a second, which is most of
// the time of a picture.
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

// refuseCallbacks defines the functions that the module imports for plugins in Go. There are no such plugins, so each function panics.
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

// render draws a graph by the steps in the manual of Graphviz's library: create a context with plugins, read the graph, lay it out, and draw the
// picture.
func (g *graphviz) render(ctx context.Context, dot string) ([]byte, error) {
	library := &calls{ctx: ctx, graphviz: g}
	plugins := library.pluginTable()
	pluginContext := library.call("gvContextPlugins", plugins, 0)
	graph := library.call("agmemread", library.text(dot))
	if library.err == nil && graph == 0 {
		return nil, errors.New("the text is no graph")
	}
	if library.call("gvLayout", pluginContext, graph, library.text("dot")) != 0 && library.err == nil {
		return nil, errors.New("the graph has no layout")
	}
	resultAddress := library.writeMemory(make([]byte, 8))
	if library.call("gvRenderData", pluginContext, graph, library.text("svg"), resultAddress, resultAddress+4) != 0 && library.err == nil {
		return nil, errors.New("the layout has no picture")
	}
	return library.readMemory(library.readWord(resultAddress), library.readWord(resultAddress+4)), library.err
}

// calls is a sequence of calls; after an error nothing more is done, and all results are 0.
type calls struct {
	*graphviz
	ctx context.Context
	err error
}

// call calls a function of the library, and returns its first result, or 0. After an error, which it stores in c.err, it does nothing.
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

// writeMemory allocates memory in the module, copies data into it, and returns its address.
func (c *calls) writeMemory(data []byte) uint64 {
	address := c.call("malloc", uint64(len(data)))
	if c.err == nil && (address == 0 || !c.module.Memory().Write(uint32(address), data)) {
		c.err = errors.New("out of memory")
	}
	return address
}

// text copies a text and the zero that ends it.
func (c *calls) text(s string) uint64 { return c.writeMemory(append([]byte(s), 0)) }

// readMemory returns a copy of length bytes of the module's memory. If the bytes are outside the memory, it sets c.err and returns nil.
func (c *calls) readMemory(address, length uint64) []byte {
	if c.err != nil {
		return nil
	}
	data, ok := c.module.Memory().Read(uint32(address), uint32(length))
	if !ok {
		c.err = errors.New("a result is outside the memory")
	}
	return bytes.Clone(data)
}

func (c *calls) readWord(address uint64) uint64 {
	if data := c.readMemory(address, 4); c.err == nil {
		return uint64(binary.LittleEndian.Uint32(data))
	}
	return 0
}

// pluginTable returns the address of the array of plugins for gvContextPlugins: pairs of a name and a library, with a pair of zeros at the end. The
// plugins are compiled into the module.
func (c *calls) pluginTable() uint64 {
	resultAddress := c.writeMemory(make([]byte, 8))
	c.call("wasm_bridge_SymList_default", resultAddress)
	list := c.readWord(resultAddress)
	var array []byte
	for i := range c.readWord(list) { // the list has its length, and then a pointer to an array of pointers to pairs
		pair := c.readWord(c.readWord(list+4) + 8*i)
		array = append(array, c.readMemory(pair, 8)...)
	}
	return c.writeMemory(append(array, make([]byte, 8)...))
}

// Notice returns where Graphviz comes from, and on which terms, for those who pass the module on.
func Notice() []byte { return notice }

// GraphvizModule returns the WebAssembly module of Graphviz, for those who run it elsewhere: in a browser. It must not be changed.
func GraphvizModule() []byte { return graphvizCode }
