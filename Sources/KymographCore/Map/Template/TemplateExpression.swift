/// All compiled expressions of a mapping set.
package struct ExpressionProgram: Sendable {
    package var paths = PathProgram()
    package var jmesPaths = JMESPathProgram()
    /// For chains of members that start at the match: what they are in JMESPath, for matches that it made.
    package var madeForms: [(path: Int32, count: Int32, reference: JMESPathReference)] = []
    /// How many names and nodes of ``jmesPaths`` the paths know already.
    private var sharedNames = 0
    private var sharedNodes = 0

    package init() {
    }

    /// Lets the scanner know what JMESPath looks at: the members of its names, and where it looks at a whole object or
    /// beside the payload, all others, too.
    package mutating func shareNames() {
        for name in jmesPaths.names[sharedNames...] where paths.number(of: name) <= NameTable.systemProperties {
            if name != "Body" { paths.isReadWhole = true }
        }
        if jmesPaths.readsWhole(behind: sharedNodes) { paths.isReadWhole = true }
        sharedNames = jmesPaths.names.count
        sharedNodes = jmesPaths.nodes.count
    }
}

/// The languages of expressions (mapping dialect, section 3).
package enum ExpressionLanguage: String, CaseIterable, Sendable {
    /// JSONPath in the reference's dialect.
    case jsonPath = "JsonPath"
    /// JMESPath with the reference's functions.
    case jmesPath = "JmesPath"

    /// The language that a mapping calls `name`, in any case.
    package init?(named name: String) {
        guard let known = ExpressionLanguage.allCases.first(where: { $0.rawValue.lowercased() == name.lowercased() })
        else { return nil }
        self = known
    }
}

/// An expression of a template: its text, and where it is in the mapping set's program.
package struct TemplateExpression: Sendable {
    /// What the text was compiled to.
    package enum Form: Sendable {
        case path(PathReference)
        case jmesPath(JMESPathReference)
        /// Cannot be read; compatibility lets the mapping load all the same (quirk 6).
        case broken
    }

    package var text: String
    package var form: Form
    /// Whether it starts at the matched token rather than at the envelope.
    package var fromMatch: Bool
    /// Whether only a document that holds the match as `matchedToken` can answer it.
    package var needsComposition = false

    package init(text: String, form: Form, fromMatch: Bool, needsComposition: Bool = false) {
        (self.text, self.form, self.fromMatch, self.needsComposition) = (text, form, fromMatch, needsComposition)
    }

    /// The compiled path, when it is one.
    package var path: PathReference? { if case .path(let path) = form { path } else { nil } }

    /// Whether it is evaluated as JMESPath.
    package var isJMESPath: Bool { if case .jmesPath = form { true } else { false } }
}
