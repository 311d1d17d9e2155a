/// Evaluates the expressions of templates, in both languages, over one scanned document.
package struct ExpressionEvaluator: ~Copyable {
    /// Evaluates JSONPath, and holds the document.
    package var paths: PathEvaluator
    private var jmesPaths: JMESPathEvaluator
    private let hasJMESPath: Bool
    private let madeForms: RawArray<Int32>
    /// What JMESPath had made when the list of matches was there.
    private var matchMark: JMESPathMark
    /// Why the last expression that gave ``failed`` did so; nil when it could not be read at all.
    package private(set) var lastError: EvaluationError?

    /// Result of ``single(_:match:bytes:compatible:)``: no token.
    package static let none = PathEvaluator.none
    /// Result of ``single(_:match:bytes:compatible:)``: several tokens.
    package static let several = PathEvaluator.several
    /// Result of ``single(_:match:bytes:compatible:)``: the evaluation failed.
    package static let failed = -3

    package init(_ set: MappingSet, limits: ScanLimits, payloadIsRoot: Bool) {
        paths = PathEvaluator(program: set.program, limits: limits, payloadIsRoot: payloadIsRoot)
        let queries = JMESPathEvaluator(program: set.jmesPathProgram, limits: limits, names: set.program.names)
        matchMark = queries.mark
        jmesPaths = queries
        madeForms = RawArray(set.madeForms)
        hasJMESPath = !set.jmesPathProgram.nodes.isEmpty
    }

    /// Integer results that were wrapped around, since the start.
    var wraps: Int { jmesPaths.wraps }

    /// Forgets what was made from the former document.
    @inline(__always)
    package mutating func begin() {
        guard hasJMESPath else { return }
        jmesPaths.reset()
        markMatches()
    }

    // MARK: Single tokens

    /// The one token that `expression` selects; ``none``, ``several`` or ``failed``.
    @inline(__always)
    package mutating func single(_ expression: ExpressionCode, match: Int, bytes: ByteView, compatible: Bool) -> Int {
        if expression.isAbsent { return ExpressionEvaluator.none }
        if expression.kind == .memberChain {
            if expression.fromMatch, !isPlain(match) { return singleMade(expression, match: match, bytes: bytes) }
            let root = expression.fromMatch ? match : paths.scanner.root
            return paths.single(expression.path, root: root, bytes: bytes)
        }
        return singleGeneral(expression, match: match, bytes: bytes, compatible: compatible)
    }

    /// A chain of members in a match that JMESPath made.
    @inline(never)
    private mutating func singleMade(_ expression: ExpressionCode, match: Int, bytes: ByteView) -> Int {
        let path = expression.path
        if path.count == 0 { return match }
        let form = ExpressionCode(jmesPath: JMESPathReference(root: madeForms[Int(path.start)]))
        guard let result = evaluate(form, match: match, bytes: bytes) else { return ExpressionEvaluator.failed }
        return jmesPaths.single(result, compatible: true)
    }

    @inline(never)
    private mutating func singleGeneral(
        _ expression: ExpressionCode, match: Int, bytes: ByteView, compatible: Bool
    ) -> Int {
        if expression.kind == .path {
            let root = expression.fromMatch ? match : paths.scanner.root
            beginPath(compatible: compatible)
            let found = paths.single(expression.path, root: root, bytes: bytes)
            return paths.hasFailed ? ExpressionEvaluator.failed : found
        }
        guard let result = evaluate(expression, match: match, bytes: bytes) else { return ExpressionEvaluator.failed }
        return jmesPaths.single(result, compatible: compatible)
    }

    private mutating func beginPath(compatible: Bool) {
        paths.isCompatible = compatible
        paths.clearFailures()
        lastError = nil
    }

    private mutating func evaluate(_ expression: ExpressionCode, match: Int, bytes: ByteView) -> JMESPathResult? {
        lastError = nil
        guard expression.kind == .jmesPath else { return nil }
        do throws(EvaluationError) {
            return try jmesPaths.evaluate(
                expression.jmesPath, scanner: paths.scanner, root: paths.scanner.root, matched: match, bytes: bytes)
        } catch {
            lastError = error
            return nil
        }
    }

    // MARK: Matches

    /// The tokens that a match expression selected, in order.
    package struct Matches {
        fileprivate var isJMESPath: Bool
        fileprivate var range: Range<Int>
        fileprivate var mark: Int
        fileprivate var made: JMESPathMark
        package var count: Int { range.count }
    }

    /// The tokens that match expression `expression` selects, or nil when the evaluation failed. Give them back with
    /// ``release(_:)``.
    package mutating func matches(_ expression: ExpressionCode, bytes: ByteView, compatible: Bool) -> Matches? {
        let mark = paths.mark
        let made = jmesPaths.mark
        if expression.kind == .jmesPath || expression.kind == .broken {
            guard let result = evaluate(expression, match: ExpressionEvaluator.none, bytes: bytes) else {
                jmesPaths.release(to: made)
                return nil
            }
            let range = jmesPaths.matches(result, compatible: compatible)
            markMatches()
            return Matches(isJMESPath: true, range: range, mark: mark, made: made)
        }
        let root = paths.scanner.root
        beginPath(compatible: compatible)
        let range = paths.select(expression.path, root: root, current: root, bytes: bytes)
        if paths.hasFailed {
            paths.release(to: mark)
            return nil
        }
        markMatches()
        return Matches(isJMESPath: false, range: range, mark: mark, made: made)
    }

    /// Notes that the list of matches is made: what JMESPath makes from now on is for one match.
    /// ``matches(_:bytes:compatible:)`` does so itself.
    @inline(__always)
    mutating func markMatches() { matchMark = jmesPaths.mark }

    /// Forgets what JMESPath made since ``markMatches()``: call it before each match, so that the caps on values and
    /// text hold for each by itself, however many a document has.
    @inline(__always)
    package mutating func releaseToMatches() {
        if hasJMESPath { jmesPaths.release(to: matchMark) }
    }

    /// Match `index`, from 0.
    @inline(__always)
    package func match(_ index: Int, of matches: Matches) -> Int {
        let place = matches.range.lowerBound + index
        return matches.isJMESPath ? jmesPaths.handle(at: place) : paths.node(place)
    }

    /// Forgets matches, and what was made for them.
    package mutating func release(_ matches: Matches) {
        paths.release(to: matches.mark)
        guard hasJMESPath else { return }
        jmesPaths.release(to: matches.made)
        markMatches()
    }

    /// Notes the tokens of the document that are part of a made token as matched; false when there are none.
    mutating func markParts(of made: Int, depth: Int = 0) -> Bool {
        var found = false
        for part in jmesPaths.parts(of: made) {
            if !ExpressionEvaluator.isProduced(part) {
                paths.scanner.markMatched(part)
                found = true
            } else if depth < 16 {
                found = markParts(of: part, depth: depth + 1) || found
            }
        }
        return found
    }

    /// What the elements of a made array stand for.
    func parts(of made: Int) -> [Int] { jmesPaths.parts(of: made) }

    // MARK: Tokens

    /// Whether a token was made by an expression, rather than found in the document.
    @inline(__always)
    package static func isProduced(_ found: Int) -> Bool { found >= JMESPathValues.ownBase }

    /// Whether a token was found in the document.
    @inline(__always)
    func isPlain(_ found: Int) -> Bool { UInt(bitPattern: found) < UInt(bitPattern: JMESPathValues.ownBase) }

    /// The token `found`.
    @inline(__always)
    func token(_ found: Int) -> Token {
        if ExpressionEvaluator.isProduced(found) { return jmesPaths.token(found, scanner: paths.scanner) }
        return paths.scanner.tape[found]
    }

    /// Whether `found` is a token that holds no others.
    func isScalar(_ found: Int) -> Bool { found >= 0 && !token(found).isContainer }

    /// The text of a string or number, valid until the next call with the same `unescaped`, which gets it where it is
    /// written with escapes.
    @inline(__always)
    func content(of found: Int, _ bytes: ByteView, unescaped: inout ByteWriter) -> ByteView {
        let token = token(found)
        let text = source(of: found, bytes)[token.range]
        return token.flags & Token.escaped == 0 ? text : ExpressionEvaluator.unescape(text, into: &unescaped)
    }

    @inline(never)
    private static func unescape(_ bytes: ByteView, into unescaped: inout ByteWriter) -> ByteView {
        unescaped.removeAll()
        JSONUnescape.append(bytes, into: &unescaped)
        // Numbers are read eight bytes at a time.
        unescaped.reserve(ByteView.padding)
        return unescaped.view
    }

    /// The bytes in which the ranges of token `found` lie.
    @inline(__always)
    func source(of found: Int, _ bytes: ByteView) -> ByteView {
        ExpressionEvaluator.isProduced(found) ? jmesPaths.bytes(of: found, document: bytes) : bytes
    }

    /// Where token `found` stands in the document, a text with its quotes; nil when an expression has made it.
    package func range(of found: Int) -> Range<Int>? {
        guard isPlain(found), paths.scanner.tape[found].flags & Token.known == 0 else { return nil }
        return paths.scanner.tape[found].outerRange
    }

    /// Appends token `found` as JSON; false when it is larger than the caps allow.
    package mutating func appendJSON(_ found: Int, _ bytes: ByteView, to writer: inout ByteWriter) -> Bool {
        guard ExpressionEvaluator.isProduced(found) else {
            writer.append(bytes[paths.scanner.tape[found].outerRange])
            return true
        }
        return (try? jmesPaths.appendJSON(of: found, scanner: paths.scanner, bytes: bytes, to: &writer)) != nil
    }

    /// Appends a scalar as text (mapping dialect, section 2.4); null appends nothing. True when it is a container.
    ///
    /// Mutating although it changes nothing: a lent evaluator is copied, all 1,100 bytes, where `writer` is another
    /// part of the same mapper.
    @inline(__always)
    mutating func appendText(
        of found: Int, _ bytes: ByteView, compatible: Bool, to writer: inout ByteWriter
    ) -> Bool {
        if isPlain(found), !compatible { return paths.scanner.tape[found].appendText(bytes, to: &writer) }
        return appendUnusual(found, bytes, compatible: compatible, to: &writer)
    }

    @inline(never)
    private func appendUnusual(
        _ found: Int, _ bytes: ByteView, compatible: Bool, to writer: inout ByteWriter
    ) -> Bool {
        let token = token(found)
        let source = source(of: found, bytes)
        if compatible {
            return CompatibleText.append(token, source, isTransport: isTransport(found), to: &writer)
        }
        return token.appendText(source, to: &writer)
    }

    /// Whether an object is a property of which nobody can tell what it says.
    @inline(never)
    func isUnclear(_ found: Int, _ bytes: ByteView) -> Bool {
        let token = token(found)
        return token.kind == TokenKind.object && UnclearProperty.isOne(source(of: found, bytes)[token.range])
    }

    /// Whether the token lies in the envelope's Properties or SystemProperties, whose texts never become times
    /// (mapping dialect, section 1.1).
    private func isTransport(_ found: Int) -> Bool {
        // In an envelope that is built around a payload, both are empty.
        guard paths.scanner.root == JSONScanner.payload, !ExpressionEvaluator.isProduced(found) else { return false }
        for name in [NameTable.properties, NameTable.systemProperties] {
            let section = paths.member(of: paths.scanner.root, name)
            if section >= 0, (section..<Int(paths.scanner.tape[section].next)).contains(found) { return true }
        }
        return false
    }
}

extension Token {
    /// Appends a scalar as text: texts unescaped, numbers with their digits, booleans as the reference prints them;
    /// null appends nothing. True when the token is a container.
    @inline(__always)
    func appendText(_ bytes: ByteView, to writer: inout ByteWriter) -> Bool {
        switch kind {
        case TokenKind.string:
            if flags & Token.escaped == 0 {
                writer.append(bytes[range])
            } else {
                JSONUnescape.append(bytes[range], into: &writer)
            }
        case TokenKind.number: writer.append(bytes[range])
        case TokenKind.yes: writer.append("True")
        case TokenKind.no: writer.append("False")
        case TokenKind.null: break
        default: return true
        }
        return false
    }
}
