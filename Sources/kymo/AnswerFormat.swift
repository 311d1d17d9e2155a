import ArgumentParser

/// An answer as text for people, or as JSON for programs.
enum TextFormat: String, ExpressibleByArgument, CaseIterable {
    case text, json
}

/// An answer as a table for people, or as JSON for programs.
enum TableFormat: String, ExpressibleByArgument, CaseIterable {
    case table, json
}
