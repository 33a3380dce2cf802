package state

import (
	"fmt"
	"strings"

	"deskhand/agent"
)

// The keys of the desk. Numbers have a fixed width, so that keys sort as the
// numbers do.
const (
	headPrefix         = "head/"
	numberPrefix       = "conversation/"
	messagePrefix      = "message/"
	turnPrefix         = "turn/"
	callPrefix         = "call/"
	approvalPrefix     = "approval/"
	auditPrefix        = "audit/"
	definitionPrefix   = "definition/"
	settingPrefix      = "setting/"
	openTurnPrefix     = "open/turn/"
	openCallPrefix     = "open/call/"
	asidePrefix        = "aside/"
	chunkPrefix        = "chunk/"
	countApprovals     = "count/approvals"
	countConversations = "count/conversations"
)

func headKey(id agent.ConversationID) string { return headPrefix + string(id) }

func numberKey(n int) string { return fmt.Sprintf("%s%012d", numberPrefix, n) }

func openTurnKey(n int) string { return fmt.Sprintf("%s%012d", openTurnPrefix, n) }

func messagesKey(id agent.ConversationID) string { return messagePrefix + string(id) + "/" }

func messageKey(id agent.ConversationID, n int) string {
	return fmt.Sprintf("%s%012d", messagesKey(id), n)
}

func auditKey(id agent.ConversationID, n int) string {
	return fmt.Sprintf("%s%s/%012d", auditPrefix, id, n)
}

func turnKey(id agent.TurnID) string { return turnPrefix + string(id) }

func callKey(id agent.CallID) string { return callPrefix + string(id) }

func openCallKey(id agent.CallID) string { return openCallPrefix + string(id) }

// approvalKey sorts approvals by their number; an id that is none has a key
// that no record has.
func approvalKey(id agent.ApprovalID) string {
	number, ok := strings.CutPrefix(string(id), "A-")
	if !ok || len(number) > 12 {
		return approvalPrefix + "?" + string(id)
	}
	return approvalPrefix + strings.Repeat("0", 12-len(number)) + number
}
