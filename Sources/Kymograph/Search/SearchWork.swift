import GRDB
import KymographCore
import KymographTemplates

/// Answers searches and reads of one client.
struct SearchWork: Sendable {
    let subject: SearchSubject
    let places: SearchedPlaces
    let client: SearchClient
    /// The address that links begin with.
    let base: String

    /// How long a page is looked for, and how long what must be looked for to the end.
    private static let (pageTime, wholeTime) = (Duration.seconds(2), Duration.seconds(5))

    // MARK: Search

    /// The reply to `query`.
    func search(_ query: SearchQuery) throws(SearchRefusal) -> HTTPReply {
        let cursor = SearchCursor(key: client.key, query: query)
        var place: WalkPlace?
        if let text = query.cursor { place = try cursor.place(text) }
        let page = try page(query, after: place, within: query.isCountOnly ? Self.wholeTime : Self.pageTime)
        places.note(page.observations)
        audit(page, query)
        return Self.reply(200, SearchBundle.searchset(page, query, base: base, cursor: cursor))
    }

    /// Notes what the client gets: whose Observations, in numbers of the store, or how many it is told that there are.
    private func audit(_ page: FoundPage, _ query: SearchQuery) {
        let asked = query.namesSubject ? Set(page.series) : nil
        if let total = page.total {
            return subject.audit(
                client.name, "counted Observations", series: asked, "was told \(total)", observations: 0)
        }
        let served = Set(page.observations.map { Int($0.place.series) })
        subject.audit(
            client.name, "searched Observations", series: served.isEmpty ? asked : served,
            "got \(page.observations.count)", observations: page.observations.count)
    }

    private func page(
        _ query: SearchQuery, after place: WalkPlace?, within time: Duration
    ) throws(SearchRefusal) -> FoundPage {
        let (reader, search) = try opened(query, within: time)
        return try Self.look(reader) { db in try search.page(after: place, db) }
    }

    // MARK: Read

    /// The Observation `id`.
    func read(_ id: String) throws(SearchRefusal) -> HTTPReply {
        var found = try known(id)
        if found == nil { found = try sought(id) }
        subject.audit(
            client.name, "read an Observation", series: Set([found].compactMap { $0.map { Int($0.place.series) } }),
            "got \(found == nil ? 0 : 1)", observations: found == nil ? 0 : 1)
        guard let found else { throw SearchRefusal(404, "not-found", "the archive has no such Observation") }
        var reply = Self.reply(200, found.resource)
        reply.fields.append(.init(name: "ETag", value: "W/\"\(found.revision)\""))
        return reply
    }

    /// The Observation where one of this id was before.
    private func known(_ id: String) throws(SearchRefusal) -> ServedObservation? {
        guard let place = places[id] else { return nil }
        let (reader, search) = try opened(SearchQuery(conditions: [.id([id])]), within: Self.pageTime)
        return try Self.look(reader) { db in try search.observation(id, place, db) }
    }

    /// The Observation, wherever it is. An id is a digest, which does not say where.
    private func sought(_ id: String) throws(SearchRefusal) -> ServedObservation? {
        var query = SearchQuery(conditions: [.id([id])])
        query.count = 1
        let page = try page(query, after: nil, within: Self.wholeTime)
        places.note(page.observations)
        guard page.observations.isEmpty, page.next != nil else { return page.observations.first }
        throw .tooCostly(
            "the archive is too large to be searched for an id alone: search by _id with patient, code or date")
    }

    // MARK: The store

    /// The store, and what looks for `query` in it for some time.
    private func opened(
        _ query: SearchQuery, within time: Duration
    ) throws(SearchRefusal) -> (StoreReader, ObservationSearch) {
        let settings = subject.present()
        guard !settings.decidesOnResources else {
            throw SearchRefusal(
                503, "not-supported",
                "there are rules of resources by now, and a search would show what they veto and leave out what they "
                    + "patch: take 'resources' out of the list of rules, or search.peers out of the settings")
        }
        let reader: StoreReader
        let former: [FormerType]
        do throws(PipelineError) {
            reader = try StoreReader(directory: subject.directory)
            former = try reader.archivedTypes()
        } catch {
            throw SearchRefusal(503, "exception", "the store cannot be read; see the log")
        }
        // After the types: those that the store has by then are among those of the newest mappings.
        let set = subject.mappings.current
        guard set.types.count >= former.count else {
            throw SearchRefusal(503, "exception", "the store has types of other mappings; see 'kymo check'")
        }
        // Observations have ids of ours here, whoever gives those of the server.
        var options = settings.output
        (options.write, options.format) = (.putByID, .ndjson)
        return (
            reader,
            ObservationSearch(
                query: query, rights: client.rights, former: former, set: set, options: options,
                time: time)
        )
    }

    /// What `body` finds in one state of the store.
    private static func look<Value>(
        _ reader: StoreReader, _ body: (Database) throws -> Value
    ) throws(SearchRefusal) -> Value {
        let found: Result<Value, SearchRefusal>
        do throws(PipelineError) {
            found = try reader.read { db in
                do {
                    return .success(try body(db))
                } catch let refusal as SearchRefusal {
                    return .failure(refusal)
                } catch is WalkLimit {
                    return .failure(
                        .tooCostly(
                            "there are too many correlations to be sorted: narrow it by patient, device or date"))
                }
            }
        } catch {
            throw SearchRefusal(503, "exception", "the store cannot be read; see the log")
        }
        return try found.get()
    }

    /// A resource as a reply.
    static func reply(_ status: Int, _ resource: [UInt8]) -> HTTPReply {
        var reply = HTTPReply(status, type: SearchBundle.contentType, "")
        reply.body = resource
        return reply
    }

    /// What is said of `refusal`.
    static func reply(_ refusal: SearchRefusal) -> HTTPReply {
        var reply = reply(refusal.status, SearchBundle.outcome(refusal))
        if let allow = refusal.allow { reply.fields.append(.init(name: "Allow", value: allow)) }
        return reply
    }
}
