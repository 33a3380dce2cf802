package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The packages whose place in the program is fixed.
const (
	module     = "deskhand"
	engine     = module + "/agent"
	commandsAt = module + "/ui/cli"
)

// What no package may reach but those that are for it.
const (
	sdk    = "github.com/modelcontextprotocol/go-sdk"
	bbolt  = "go.etcd.io/bbolt"
	charm  = "github.com/charmbracelet"
	cobra  = "github.com/spf13/cobra"
	etcd   = "go.etcd.io/etcd"
	openai = "github.com/openai"
	claude = "github.com/anthropics"
)

// pack is what go list says of a package.
type pack struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

// packages lists every package of the module, with everything that it needs.
func packages(t *testing.T) map[string]pack {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", "./...")
	cmd.Dir = root(t)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, errs.String())
	}
	found := map[string]pack{}
	decoder := json.NewDecoder(bytes.NewReader(out))
	for {
		var p pack
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return found
		} else if err != nil {
			t.Fatal(err)
		}
		found[p.ImportPath] = p
	}
}

// root is the module's folder.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// within reports whether a path is a package or below it.
func within(path, parent string) bool {
	return path == parent || strings.HasPrefix(path, parent+"/")
}

// A rule says what packages may not need, directly or through others.
type rule struct {
	of     string // these packages, and those below
	except []string
	never  []string
}

var rules = []rule{
	{of: engine, except: []string{engine + "/openai", engine + "/anthropic", engine + "/provider", engine + "/telemetry"},
		never: []string{module + "/ui", module + "/mcp", module + "/state", sdk, bbolt, etcd, charm, cobra, openai, claude, "net/http"}},
	{of: engine + "/provider", never: []string{module + "/ui", module + "/mcp", module + "/state", engine + "/openai", engine + "/anthropic", sdk, bbolt, etcd, charm}},
	{of: engine + "/openai", never: []string{module + "/ui", module + "/mcp", module + "/state", sdk, bbolt, etcd, charm}},
	{of: engine + "/telemetry", never: []string{module + "/ui", module + "/mcp", module + "/state", engine + "/provider", sdk, bbolt, etcd, charm, cobra}},
	{of: engine + "/anthropic", never: []string{module + "/ui", module + "/mcp", module + "/state", sdk, bbolt, etcd, charm}},
	{of: module + "/mcp/client", never: []string{module + "/ui", module + "/state", module + "/mcp/workorders", bbolt, charm, cobra}},
	{of: module + "/state", never: []string{module + "/ui", module + "/mcp", sdk, charm, cobra}},
	{of: module + "/mcp/workorders", never: []string{module + "/ui", module + "/state", engine, module + "/mcp/client", charm, cobra}},
	{of: module + "/ui/console", never: []string{commandsAt, module + "/state", module + "/mcp", sdk, bbolt, cobra}},
	{of: module + "/ui/httpapi", never: []string{commandsAt, module + "/state", module + "/mcp", bbolt, charm, cobra}},
}

func TestImportsGoOneWay(t *testing.T) {
	t.Parallel()
	all := packages(t)
	for _, r := range rules {
		for path, p := range all {
			if !within(path, r.of) || slices.ContainsFunc(r.except, func(e string) bool { return within(path, e) }) {
				continue
			}
			for _, dep := range p.Deps {
				if slices.ContainsFunc(r.never, func(n string) bool { return within(dep, n) }) {
					t.Errorf("%s needs %s", path, dep)
				}
			}
		}
	}
	if len(all) < 8 {
		t.Errorf("go list names %d packages only", len(all))
	}
}

func TestOnlyTheCommandLineImportsEverything(t *testing.T) {
	t.Parallel()
	all := packages(t)
	for path, p := range all {
		for _, imported := range p.Imports {
			switch {
			case within(imported, charm) && !within(path, module+"/ui"):
				t.Errorf("%s draws with %s", path, imported)
			case imported == commandsAt && path != module:
				t.Errorf("%s imports the command line", path)
			case within(imported, module+"/ui") && !within(path, module+"/ui") && path != module:
				t.Errorf("%s imports %s", path, imported)
			}
		}
	}
	if main := all[module]; !slices.Contains(main.Imports, commandsAt) || slices.ContainsFunc(main.Imports, func(i string) bool {
		return within(i, module) && i != commandsAt
	}) {
		t.Errorf("main imports %v", main.Imports)
	}
	for _, name := range []string{engine, engine + "/offline", module + "/mcp/client", module + "/mcp/workorders", module + "/state", module + "/ui/console"} {
		if !slices.Contains(all[commandsAt].Imports, name) {
			t.Errorf("the command line does not wire %s", name)
		}
	}
	for _, imported := range all[engine+"/offline"].Imports {
		if within(imported, module) && imported != engine && !within(imported, engine+"/offline") {
			t.Errorf("the offline model imports %s", imported)
		}
	}
}

func TestEngineBuildsForTheBrowser(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("go", "build", "-o", os.DevNull, "./agent")
	cmd.Dir, cmd.Env = root(t), append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("go build ./agent for js/wasm: %v\n%s", err, out)
	}
}

// One place in the program calls a tool, so that whatever has to be true before
// a call is sent has to be made sure of once.
func TestOnePlaceCallsATool(t *testing.T) {
	t.Parallel()
	var places []string
	dir := filepath.Join(root(t), "agent")
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if callsTool(n) {
				places = append(places, set.Position(n.Pos()).String())
			}
			return true
		})
	}
	if len(places) != 1 {
		t.Errorf("tools are called in %d places: %v", len(places), places)
	}
}

// callsTool reports whether a node is something.Call(ctx, ...) of a source;
// Tx.Call takes an id alone.
func callsTool(n ast.Node) bool {
	expression, ok := n.(*ast.CallExpr)
	if !ok || len(expression.Args) != 2 {
		return false
	}
	selector, ok := expression.Fun.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != "Call" {
		return false
	}
	context, ok := expression.Args[0].(*ast.Ident)
	return ok && strings.Contains(strings.ToLower(context.Name), "ctx")
}
