package syntax

import "fmt"

// Player is `player NAME module, [action], … endplayer` of a stochastic game. The player moves in the
// states where its commands are enabled: the unlabelled commands of its modules, and all commands with
// its actions.
//
// Source: PRISM-games 3.2, the grammar and ModulesFile.getPlayerForModuleOrAction.
type Player struct {
	Doc   Doc
	Name  *Ident
	Items []*PlayerItem
	Notes
	Span
}

// PlayerItem is a module of a player, or an action in brackets.
type PlayerItem struct {
	Action bool
	Name   *Ident
	Span
}

func (*Player) itemNode() {}

// The words of stochastic games are not keywords, because PRISM 4.10 accepts them as names. The parser
// recognizes them where a name is impossible: at the beginning of an item, and before a formula.
const (
	wordSMG       = "smg"
	wordMA        = "ma"
	wordPlayer    = "player"
	wordEndplayer = "endplayer"

	wordUntilReached      = "Fc"
	wordZeroUnlessReached = "F0"
)

// gameRewardAhead reports whether the current token is Fc or F0 and a formula follows, so the token is an operator and not a name.
func (p *parser) gameRewardAhead() bool {
	if !p.atWord(wordUntilReached) && !p.atWord(wordZeroUnlessReached) {
		return false
	}
	switch k := p.peek(); k {
	case tokIdent, tokLeftParen, tokNot, tokInt, tokDouble, kwTrue, kwFalse:
		return true
	default:
		return startsPropertyOperator(k)
	}
}

// atWord reports whether the current token is a name with the given text.
func (p *parser) atWord(word string) bool {
	return p.token.kind == tokIdent && string(p.scanner.src[p.token.pos.Offset:p.token.end]) == word
}

// parseGameItem parses the model type smg or a player. It returns nil for anything else.
func (p *parser) parseGameItem() Item {
	switch {
	case p.atWord(wordSMG):
		return p.parseTypeWord(SMG)
	case p.atWord(wordPlayer):
		return p.parsePlayerItem()
	}
	return nil
}

// parseTypeWord parses a model type whose word is not a keyword.
func (p *parser) parseTypeWord(modelType ModelType) *TypeDecl {
	statement := p.beginStatement()
	declaration := &TypeDecl{Doc: statement.doc, Type: modelType, Word: p.tokenText(p.token)}
	p.advance()
	declaration.Notes, declaration.Span = p.finishStatement(statement)
	return declaration
}

// parsePlayerItem parses a player. Its list may be empty.
func (p *parser) parsePlayerItem() Item {
	statement := p.beginStatement()
	p.advance()
	player := &Player{Doc: statement.doc, Name: p.parseName("a player name")}
	isEmpty := p.atWord(wordEndplayer)
	for !p.hasFailed && !isEmpty {
		player.Items = append(player.Items, p.parseOwnedItem())
		if !p.accept(tokComma) {
			break
		}
	}
	switch {
	case p.hasFailed:
	case p.atWord(wordEndplayer):
		p.advance()
	case len(player.Items) == 0:
		p.unexpected(`a module, an action in brackets or "endplayer"`)
	default:
		p.unexpected(`"," or "endplayer"`)
	}
	player.Notes, player.Span = p.finishStatement(statement)
	return player
}

// parseOwnedItem parses a module of a player, or an action in brackets.
func (p *parser) parseOwnedItem() *PlayerItem {
	start := p.token.pos
	item := &PlayerItem{Action: p.accept(tokLeftBracket)}
	if item.Action {
		item.Name = p.parseName("an action")
		p.expect(tokRightBracket)
	} else {
		item.Name = p.parseName("a module or an action in brackets")
	}
	item.Span = p.span(start)
	return item
}

// writePlayer writes a player on one line if it fits.
func (p *printer) writePlayer(declaration *Player) {
	p.writeCommentsAbove(declaration.Notes, declaration.Doc, "")
	p.write(wordPlayer + " ")
	p.writeName(declaration.Name)
	if len(declaration.Items) == 0 {
		p.write(" " + wordEndplayer + "\n")
		p.addCommentBehind(declaration.Notes)
		return
	}
	p.writeCommaList(len(declaration.Items), " ", func(i int) {
		if item := declaration.Items[i]; item.Action {
			p.write("[")
			p.writeName(item.Name)
			p.write("]")
		} else {
			p.writeName(item.Name)
		}
	})
	p.writeIf(p.column() > 0, " ")
	p.write(wordEndplayer + "\n")
	p.addCommentBehind(declaration.Notes)
}

// unsupportedGame returns, for an error message, what a word for a game model means and why it is not accepted. ok is false for smg and for words
// that are not a model type.
func unsupportedGame(word string) (description string, ok bool) {
	const unsupported = "not supported, PRISM-games has it"
	switch word {
	case "csg":
		return "a concurrent stochastic game: " + unsupported, true
	case "tsg":
		return "the former name of turn-based stochastic games, want " + wordSMG, true
	case "stpg":
		return "a two-player game in the form of STPGs: " + unsupported + fmt.Sprintf("; want %s, whose properties name a coalition", wordSMG), true
	case "tptg", "tptsg":
		return "a turn-based probabilistic timed game: " + unsupported, true
	}
	return "", false
}
