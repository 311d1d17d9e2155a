import KymographCore

extension TemplateExpression {
    /// What `$` is.
    enum Scope {
        /// The envelope.
        case envelope
        /// The envelope with the match as its member `matchedToken`.
        case envelopeWithMatch
        /// The matched token.
        case match
    }

    /// Compiles `text`. Expressions that only go from member to member become paths in both languages; where the
    /// envelope has the match, a path that starts at it is made relative to the match.
    ///
    /// With `matchIsMade`, matches may be values that JMESPath made, in which only JMESPath finds its way: paths that
    /// start at the match get a second form for these.
    static func compile(
        _ text: String, _ language: ExpressionLanguage, scope: Scope, matchIsMade: Bool = false,
        into program: inout ExpressionProgram
    ) throws(ExpressionError) -> TemplateExpression {
        switch language {
        case .jsonPath:
            let path = try JSONPathParser.compile(text, into: &program.paths)
            let compiled = scoped(text, path, scope, program.paths)
            if matchIsMade { try addMadeForm(of: compiled, into: &program) }
            return compiled
        case .jmesPath:
            let reference = try JMESPathParser.compile(text, into: &program.jmesPaths)
            // A match must not be null, which a path would not see.
            if scope == .envelopeWithMatch,
                let names = JMESPathProgram.memberChain(reference, in: program.jmesPaths)
            {
                let compiled = scoped(text, program.paths.memberChain(names), scope, program.paths)
                if matchIsMade { try addMadeForm(of: compiled, into: &program) }
                return compiled
            }
            program.shareNames()
            return TemplateExpression(text: text, form: .jmesPath(reference), fromMatch: false)
        }
    }

    /// Adds the form for made matches of a chain of members that starts at the match.
    private static func addMadeForm(
        of expression: TemplateExpression, into program: inout ExpressionProgram
    ) throws(ExpressionError) {
        guard let path = expression.path, expression.fromMatch, path.isMemberChain else { return }
        let names = ["matchedToken"] + program.paths.names(of: path)
        let chain = names.map(JSONText.quoted).joined(separator: ".")
        let reference = try JMESPathParser.compile(chain, into: &program.jmesPaths)
        program.madeForms.append((path: path.start, count: path.count, reference: reference))
        program.shareNames()
    }

    private static func scoped(
        _ text: String, _ path: PathReference, _ scope: Scope, _ program: PathProgram
    ) -> TemplateExpression {
        guard scope == .envelopeWithMatch, path.count > 0 else {
            return TemplateExpression(text: text, form: .path(path), fromMatch: scope == .match)
        }
        let first = program.steps[Int(path.start)]
        guard first.operation == .member else {
            return TemplateExpression(text: text, form: .path(path), fromMatch: false, needsComposition: true)
        }
        guard program.names[Int(first.name)] == "matchedToken" else {
            return TemplateExpression(text: text, form: .path(path), fromMatch: false)
        }
        var path = path
        path.start += 1
        path.count -= 1
        path.requiredNames = 0
        return TemplateExpression(text: text, form: .path(path), fromMatch: true)
    }
}

extension PathProgram {
    /// The names of a path that goes from member to member.
    func names(of path: PathReference) -> [String] {
        steps[Int(path.start)..<Int(path.start + path.count)].map { names[Int($0.name)] }
    }

    /// A path that goes from member to member.
    mutating func memberChain(_ names: [String]) -> PathReference {
        let start = steps.count
        for name in names { steps.append(PathStep(operation: .member, name: number(of: name))) }
        return PathReference(
            start: Int32(start), count: Int32(names.count), isMemberChain: true, fromRoot: true, requiredNames: 0)
    }
}
