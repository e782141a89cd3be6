// Verifies the cases of verify_proof.py with golang.org/x/mod/sumdb: every checkpoint is signed with a new key and opened
// by sumdb/note, and the proofs are checked by sumdb/tlog. The cases come as JSON on standard input. The argument is a
// directory of tiles, from which tlog.TileHashReader computes the same proofs.
package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type proofCase struct {
	Accept     bool     `json:"accept"`
	Checkpoint string   `json:"checkpoint"`
	Later      string   `json:"later"`
	Hashes     []string `json:"hashes"`
	Index      *int64   `json:"index"`
	Old        *int64   `json:"old"`
	Leaf       string   `json:"leaf"`
}

type head struct {
	origin string
	size   int64
	root   tlog.Hash
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// open signs the text of a checkpoint, opens the note and parses the opened text.
func open(text string) (head, error) {
	var parsed head
	origin := strings.SplitN(text, "\n", 2)[0]
	private, public, err := note.GenerateKey(rand.Reader, origin)
	fail(err)
	signer, err := note.NewSigner(private)
	fail(err)
	verifier, err := note.NewVerifier(public)
	fail(err)
	message, err := note.Sign(&note.Note{Text: text}, signer)
	fail(err)
	opened, err := note.Open(message, note.VerifierList(verifier))
	if err != nil {
		return parsed, err
	}
	lines := strings.Split(opened.Text, "\n")
	if len(lines) != 4 {
		return parsed, fmt.Errorf("a checkpoint of %d lines", len(lines))
	}
	parsed.origin = lines[0]
	if _, err := fmt.Sscanf(lines[1], "%d", &parsed.size); err != nil {
		return parsed, err
	}
	parsed.root, err = tlog.ParseHash(lines[2])
	return parsed, err
}

func check(c proofCase) error {
	trusted, err := open(c.Checkpoint)
	if err != nil {
		return err
	}
	later, err := open(c.Later)
	if err != nil {
		return err
	}
	var hashes []tlog.Hash
	for _, text := range c.Hashes {
		hash, err := tlog.ParseHash(text)
		if err != nil {
			return err
		}
		hashes = append(hashes, hash)
	}
	if c.Index != nil {
		if trusted != later {
			return fmt.Errorf("another checkpoint")
		}
		leaf, err := tlog.ParseHash(c.Leaf)
		if err != nil {
			return err
		}
		return tlog.CheckRecord(hashes, trusted.size, trusted.root, *c.Index, leaf)
	}
	if trusted.size != *c.Old || trusted.origin != later.origin {
		return fmt.Errorf("another earlier checkpoint")
	}
	return tlog.CheckTree(hashes, later.size, later.root, trusted.size, trusted.root)
}

// tileDirectory reads C2SP tlog-tiles. The paths of tlog.Tile have the height as a further element.
type tileDirectory string

func (directory tileDirectory) Height() int { return 8 }

func (directory tileDirectory) SaveTiles([]tlog.Tile, [][]byte) {}

func (directory tileDirectory) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	var all [][]byte
	for _, tile := range tiles {
		name := "tile/" + strings.TrimPrefix(tile.Path(), "tile/8/")
		data, err := os.ReadFile(filepath.Join(string(directory), name))
		if err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	return all, nil
}

// reader opens the checkpoint of a directory of tiles, and returns a reader that authenticates the tiles with it.
func (directory tileDirectory) reader() (tlog.HashReader, error) {
	text, err := os.ReadFile(filepath.Join(string(directory), "checkpoint"))
	if err != nil {
		return nil, err
	}
	parsed, err := open(string(text))
	if err != nil {
		return nil, err
	}
	return tlog.TileHashReader(tlog.Tree{N: parsed.size, Hash: parsed.root}, directory), nil
}

// proveFromTiles computes the proof of a case from tiles and compares it.
func proveFromTiles(c proofCase, tiles tlog.HashReader) error {
	later, err := open(c.Later)
	if err != nil {
		return err
	}
	var hashes []tlog.Hash
	if c.Index != nil {
		hashes, err = tlog.ProveRecord(later.size, *c.Index, tiles)
	} else {
		hashes, err = tlog.ProveTree(later.size, *c.Old, tiles)
	}
	if err != nil {
		return err
	}
	if len(hashes) != len(c.Hashes) {
		return fmt.Errorf("the tiles give %d hashes", len(hashes))
	}
	for i, hash := range hashes {
		if hash.String() != c.Hashes[i] {
			return fmt.Errorf("the tiles give another hash")
		}
	}
	return nil
}

func main() {
	var cases []proofCase
	fail(json.NewDecoder(os.Stdin).Decode(&cases))
	tiles, err := tileDirectory(os.Args[1]).reader()
	fail(err)
	accepted := 0
	for _, c := range cases {
		err := check(c)
		if (err == nil) != c.Accept {
			fail(fmt.Errorf("expected %v: %v: %+v", c.Accept, err, c))
		}
		if c.Accept {
			if err := proveFromTiles(c, tiles); err != nil {
				fail(fmt.Errorf("from tiles: %v: %+v", err, c))
			}
			accepted++
		}
	}
	fmt.Printf("Go's sumdb/note and sumdb/tlog accept %d proofs, compute them from the tiles, and reject %d\n", accepted, len(cases)-accepted)
}
