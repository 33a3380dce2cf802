package cli

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"deskhand/agent"
	"deskhand/ui/httpapi"
)

// callersFile holds the hashes of the tokens for the desk over HTTP, 0600.
const callersFile = "tokens.json"

// tokensVariable may hold tokens too, as USER=TOKEN,USER=TOKEN.
const tokensVariable = "DESKHAND_TOKENS"

// callerToken is a token that was given to somebody; the token itself is not
// kept.
type callerToken struct {
	User    agent.UserID `json:"user"`
	SHA256  string       `json:"sha256"`
	Created time.Time    `json:"created"`
}

func newCallerToken(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Who may use the desk over HTTP",
		Long: "Tokens for deskhand serve. Each belongs to a desk user, in whose name its requests act. Only hashes\n" +
			"are kept. A server that runs reads them when it starts.",
		Example: "  deskhand token new U-01",
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		&cobra.Command{
			Use: "new USER", Short: "Make a token for a desk user and print it, once",
			Example: "  deskhand token new U-01", Args: exactly("USER"),
			RunE: func(_ *cobra.Command, args []string) error { return o.giveToken(agent.UserID(args[0])) },
		},
		&cobra.Command{
			Use: "list", Short: "List who has tokens", Example: "  deskhand token list", Args: noArguments,
			RunE: func(*cobra.Command, []string) error { return o.listTokens() },
		},
		&cobra.Command{
			Use: "revoke USER", Short: "Take all tokens of a desk user back",
			Example: "  deskhand token revoke U-01", Args: exactly("USER"),
			RunE: func(_ *cobra.Command, args []string) error { return o.revokeTokens(agent.UserID(args[0])) },
		},
	)
	return cmd
}

func (o *options) giveToken(user agent.UserID) error {
	if strings.TrimSpace(string(user)) == "" {
		return &usageError{errors.New("name the desk user, e.g. U-01")}
	}
	tokens, err := o.readTokens()
	if err != nil {
		return err
	}
	token := "dh_" + rand.Text() + rand.Text()
	sum := sha256.Sum256([]byte(token))
	tokens = append(tokens, callerToken{User: user, SHA256: hex.EncodeToString(sum[:]), Created: time.Now().UTC().Truncate(time.Second)})
	if err := o.writeTokens(tokens); err != nil {
		return err
	}
	_, err = fmt.Fprintln(o.out, token)
	return err
}

func (o *options) listTokens() error {
	tokens, err := o.readTokens()
	if err != nil {
		return err
	}
	if len(tokens) == 0 {
		_, err := fmt.Fprintln(o.out, "There are no tokens; make one with: deskhand token new USER")
		return err
	}
	table := tabwriter.NewWriter(o.out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "USER\tMADE") // a tabwriter reports its errors at Flush
	for _, t := range tokens {
		_, _ = fmt.Fprintf(table, "%s\t%s\n", visible(string(t.User)), t.Created.Local().Format("2006-01-02 15:04"))
	}
	return table.Flush()
}

func (o *options) revokeTokens(user agent.UserID) error {
	tokens, err := o.readTokens()
	if err != nil {
		return err
	}
	kept := slices.DeleteFunc(slices.Clone(tokens), func(t callerToken) bool { return t.User == user })
	if len(kept) == len(tokens) {
		return fmt.Errorf("%s has no token; see deskhand token list", user)
	}
	if err := o.writeTokens(kept); err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.out, "%d of %s taken back; a server that runs knows them until it starts again.\n", len(tokens)-len(kept), user)
	return err
}

// callers are all who may use the desk over HTTP.
func (o *options) callers() ([]httpapi.Caller, error) {
	tokens, err := o.readTokens()
	if err != nil {
		return nil, err
	}
	var out []httpapi.Caller
	for _, t := range tokens {
		c := httpapi.Caller{User: t.User}
		sum, err := hex.DecodeString(t.SHA256)
		if err != nil || len(sum) != len(c.Token) || t.User == "" {
			return nil, fmt.Errorf("%s is damaged: an entry is no token; remove the file and make the tokens again", o.tokensPath())
		}
		copy(c.Token[:], sum)
		out = append(out, c)
	}
	for entry := range strings.SplitSeq(o.getenv(tokensVariable), ",") {
		if strings.TrimSpace(entry) == "" {
			continue
		}
		user, token, ok := strings.Cut(strings.TrimSpace(entry), "=")
		if !ok || user == "" || token == "" {
			return nil, &usageError{fmt.Errorf("%s must be USER=TOKEN,USER=TOKEN", tokensVariable)}
		}
		out = append(out, httpapi.Caller{User: agent.UserID(user), Token: sha256.Sum256([]byte(token))})
	}
	return out, nil
}

func (o *options) tokensPath() string { return filepath.Join(o.home, callersFile) }

func (o *options) readTokens() ([]callerToken, error) {
	text, err := os.ReadFile(o.tokensPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, homeError(err)
	}
	var tokens []callerToken
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&tokens); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w; remove the file and make the tokens again", o.tokensPath(), err)
	}
	return tokens, nil
}

// writeTokens replaces the file at once, so that a kill leaves the old or the
// new one.
func (o *options) writeTokens(tokens []callerToken) error {
	text, err := json.MarshalIndent(tokens, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.home, 0o700); err != nil {
		return homeError(err)
	}
	file, err := os.CreateTemp(o.home, "."+callersFile+"-*") // 0600
	if err != nil {
		return homeError(err)
	}
	defer func() { _ = os.Remove(file.Name()) }() // only a leftover
	_, err = file.Write(append(text, '\n'))
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), o.tokensPath())
}
