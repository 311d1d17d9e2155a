/// All that pages can ask for, besides `login`, `logout` and `live`, which ``Console`` answers itself. A page with
/// routes of its own adds its list here.
enum ConsoleRoutes {
    static let all: [ConsoleRoute] =
        session + LetterRoutes.all + MappingRoutes.all
        + PlaygroundRoutes.all + SeriesRoutes.all + WallRoutes.all

    private struct SessionView: Encodable {
        var role: ConsoleRole
        var version: String
        var started: String
        /// Whether mappings may be saved.
        var edits: Bool
        /// Streams of counts that can be opened besides those that are open.
        var streamsLeft: Int
    }

    private static let session: [ConsoleRoute] = [
        .get("session", .view, .atOnce) { (console, request) throws(ConsoleRefusal) in
            .json(
                SessionView(
                    role: request.session.role, version: KymographVersion.number,
                    started: console.subject.started.text, edits: console.subject.settings.console.edits,
                    streamsLeft: console.feed.streamsLeft))
        }
    ]
}
