// Prints what go/parser and go/build say about the Go files below a folder: {path: {symbols, imports}}.
package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

type report struct {
	Symbols []string `json:"symbols"`
	Imports []string `json:"imports"`
}

func main() {
	root := os.Args[1]
	var paths []string
	if err := json.NewDecoder(os.Stdin).Decode(&paths); err != nil {
		panic(err)
	}
	reports := map[string]*report{}
	for _, path := range paths {
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, filepath.Join(root, path), nil, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		reports[path] = read(root, files, file)
	}
	if err := json.NewEncoder(os.Stdout).Encode(reports); err != nil {
		panic(err)
	}
}

func read(root string, files *token.FileSet, file *ast.File) *report {
	r := &report{Symbols: []string{}, Imports: []string{}}
	add := func(at token.Pos, kind string, names ...string) {
		if names[len(names)-1] != "_" {
			r.Symbols = append(r.Symbols, fmt.Sprintf("%d %s %s", files.Position(at).Line, kind, strings.Join(names, ".")))
		}
	}
	add(file.Package, "module", file.Name.Name)
	for _, one := range file.Imports {
		source := one.Path.Value[1 : len(one.Path.Value)-1]
		r.Imports = append(r.Imports, fmt.Sprintf("%d %s → %s", files.Position(one.Pos()).Line, source, folder(root, source)))
	}
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil && len(d.Recv.List) > 0 {
				add(d.Pos(), "method", receiver(d.Recv.List[0].Type), d.Name.Name)
			} else {
				add(d.Pos(), "function", d.Name.Name)
			}
			if d.Body != nil {
				types(d.Body, add, names(d)...)
			}
		case *ast.GenDecl:
			general(d, add)
		}
	}
	return r
}

func names(d *ast.FuncDecl) []string {
	if d.Recv != nil && len(d.Recv.List) > 0 {
		return []string{receiver(d.Recv.List[0].Type), d.Name.Name}
	}
	return []string{d.Name.Name}
}

type adder func(at token.Pos, kind string, names ...string)

// Types that a function declares; its constants and variables are local.
func types(body ast.Node, add adder, around ...string) {
	ast.Inspect(body, func(node ast.Node) bool {
		if spec, ok := node.(*ast.TypeSpec); ok {
			typeSpec(spec, add, around...)
		}
		return true
	})
}

func general(d *ast.GenDecl, add adder) {
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			typeSpec(s, add)
		case *ast.ValueSpec:
			kind := "variable"
			if d.Tok == token.CONST {
				kind = "constant"
			}
			for _, name := range s.Names {
				add(name.Pos(), kind, name.Name)
			}
			for _, value := range s.Values {
				types(value, add)
			}
		}
	}
}

func typeSpec(s *ast.TypeSpec, add adder, around ...string) {
	here := append(append([]string{}, around...), s.Name.Name)
	kind := "type"
	switch t := s.Type.(type) {
	case *ast.StructType:
		if !s.Assign.IsValid() {
			kind = "class"
			defer fields(t.Fields, "field", add, here)
		}
	case *ast.InterfaceType:
		if !s.Assign.IsValid() {
			kind = "interface"
			defer fields(t.Methods, "method", add, here)
		}
	}
	add(s.Pos(), kind, here...)
}

func fields(list *ast.FieldList, kind string, add adder, around []string) {
	for _, field := range list.List {
		for _, name := range field.Names {
			add(name.Pos(), kind, append(append([]string{}, around...), name.Name)...)
		}
	}
}

func receiver(expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.ParenExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return "?"
}

// The folder of a package of the standard library, or of what it has in its vendor folder.
func folder(root, source string) string {
	for _, path := range []string{source, "vendor/" + source} {
		matches, _ := filepath.Glob(filepath.Join(root, path, "*.go"))
		for _, match := range matches {
			if !strings.HasSuffix(match, "_test.go") && source != "unsafe" {
				return path
			}
		}
	}
	return "outside"
}
