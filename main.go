// Deskhand is a terminal console for a field-service dispatcher: an assistant
// looks things up and books visits; what spends money waits for a key press.
package main

import (
	"os"

	"deskhand/ui/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:])) }
