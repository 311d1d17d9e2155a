import CommandSupport
import Testing

/// A page of `docs/tutorials`: commands that are run one after another in one shell.
struct Tutorial: Sendable, CustomTestStringConvertible {
    /// Such as `first-observation.md`.
    var name: String
    /// Whether the test has a FHIR server in place of the page's.
    var needsServer = false

    static let folder = "\(SharedMaterial.package)/docs/tutorials"

    /// Each page that there is.
    static let all = [
        Tutorial(name: "apple-health.md"),
        Tutorial(name: "first-observation.md"),
        Tutorial(name: "from-medtech-service.md"),
        Tutorial(name: "glucose-meter.md"),
        Tutorial(name: "health-auto-export.md"),
        Tutorial(name: "health-connect.md"),
        Tutorial(name: "into-a-fhir-server.md", needsServer: true),
        Tutorial(name: "keep-your-event-hub-clients.md"),
        Tutorial(name: "mllp-to-fhir.md", needsServer: true),
        Tutorial(name: "production-on-one-box.md"),
        Tutorial(name: "strap-to-observation.md"),
    ]

    var testDescription: String { name }

    /// The blocks of code.
    var blocks: [CodeBlock] { Page(name, Files.text("\(Tutorial.folder)/\(name)")).blocks }

    /// The commands, each with what the page shows under it.
    var steps: [TutorialStep] {
        var steps: [TutorialStep] = []
        for block in blocks {
            if let kind = TutorialStep.Kind(fence: block.fence) {
                steps.append(TutorialStep(page: name, kind: kind, block: block))
            } else if block.fence == "text", !steps.isEmpty {
                steps[steps.count - 1].shown = ShownOutput(lines: block.source)
            }
        }
        return steps
    }
}

/// A block of commands of a tutorial.
struct TutorialStep: Sendable {
    /// What the fence says of a block of commands.
    enum Kind: Equatable {
        /// `sh`: run once.
        case run
        /// `sh again`: looks at something, as the reader does until it is there.
        case again
        /// `sh root` and others: needs what a test has not.
        case notRun(String)

        init?(fence: String?) {
            guard let words = fence?.split(separator: " "), words.first == "sh", words.count <= 2 else { return nil }
            switch words.dropFirst().first {
            case nil: self = .run
            case "again": self = .again
            case let need?: self = .notRun(String(need))
            }
        }
    }

    var page: String
    var kind: Kind
    /// Where it begins on the page.
    var line: Int
    /// What a shell runs.
    var script: String
    /// What it prints; nothing when the page shows nothing.
    var shown = ShownOutput(lines: [])

    init(page: String, kind: Kind, block: CodeBlock) {
        self.page = page
        self.kind = kind
        line = block.lines.first?.number ?? 0
        script = block.source.joined(separator: "\n")
    }

    var isRun: Bool {
        if case .notRun = kind { return false }
        return true
    }

    /// The status of its last command; all others must exit with 0.
    var expectedStatus: Int32 { script.statedStatus }
}
