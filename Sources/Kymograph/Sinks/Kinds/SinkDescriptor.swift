/// A kind of sink: what configuration and documentation know of it.
package struct SinkDescriptor: Sendable {
    /// Key of the place in an element of `sinks`, and first word of names.
    package let key: String
    /// What may be written there, for people.
    package let form: String
    /// What is written there, in a sentence without final stop.
    package let about: String
    /// The one value that stands for this kind, where another kind has the same key; nil for all other values.
    package let word: String?
    /// What its sinks can do.
    package let capabilities: SinkCapabilities
    /// What the URLs begin with that name its places wherever sinks are named; empty where none do.
    var schemes: [String] = []
    /// Settings that this kind has, and not all.
    let settings: [Setting<any SinkAddress>]
    /// What ``settings`` are read into before the place is known; nil where there are none.
    let start: (any SinkAddress)?
    /// Reads the place into what ``settings`` have been read into.
    let read: @Sendable (String, (any SinkAddress)?) throws(SettingProblem) -> any SinkAddress

    /// Reads a place.
    package typealias Parse = @Sendable (String) throws(SettingProblem) -> any SinkAddress

    /// A kind without settings of its own.
    package init(
        key: String, form: String, about: String, word: String? = nil, capabilities: SinkCapabilities = [],
        parse: @escaping Parse
    ) {
        (self.key, self.form, self.about, self.word) = (key, form, about, word)
        self.capabilities = capabilities
        (settings, start) = ([], nil)
        read = { (text, _) throws(SettingProblem) in try parse(text) }
    }

    /// A kind with `settings` of its own; `place` is the one that names the place, under the key that `key` replaces.
    package init<Address: SinkAddress>(
        key: String, place: Setting<Address>, settings: [Setting<Address>], start: Address,
        capabilities: SinkCapabilities = []
    ) {
        (self.key, form, about, word) = (key, place.form, place.about, nil)
        self.capabilities = capabilities
        self.settings = settings.map(\.ofSomeSink)
        self.start = start
        let read = place.ofSomeSink.read
        self.read = { (text, draft) throws(SettingProblem) in
            var address: any SinkAddress = draft ?? start
            try read([text], &address)
            return address
        }
    }
}

/// What sinks of a kind can do: which settings have an effect on them.
package struct SinkCapabilities: OptionSet, Sendable {
    /// The bits.
    package let rawValue: Int

    /// Takes the bits.
    package init(rawValue: Int) { self.rawValue = rawValue }

    /// It writes files that can be compressed and rotated.
    package static let files = SinkCapabilities(rawValue: 1)
    /// Who reads it is there while the pipeline runs, and keeps what it needs.
    package static let pipe = SinkCapabilities(rawValue: 1 << 1)
    /// It may take nothing for long: with a store, entries wait for it in the outbox, and there is one unless the
    /// configuration says otherwise.
    package static let mayBeAway = SinkCapabilities(rawValue: 1 << 2)
    /// It can get readings as events in place of resources.
    package static let events = SinkCapabilities(rawValue: 1 << 3)
    /// It gets events unless the configuration says otherwise.
    package static let prefersEvents = SinkCapabilities(rawValue: 1 << 4)
    /// It answers for each entry, so that there are receipts.
    package static let answers = SinkCapabilities(rawValue: 1 << 5)
}

extension Setting where Root: SinkAddress {
    /// The same setting of a sink whose kind the compiler does not know.
    fileprivate var ofSomeSink: Setting<any SinkAddress> {
        let elements: (@Sendable (any SinkAddress) -> [String])? = elements.map { own in
            { @Sendable address in (address as? Root).map(own) ?? [] }
        }
        return Setting<any SinkAddress>(key: key, form: form, about: about, values: values, elements: elements) {
            [read] (texts, address) throws(SettingProblem) in
            guard var own = address as? Root else { preconditionFailure("'\(address.name)' is of another kind") }
            try read(texts, &own)
            address = own
        } shown: { [shown] address in
            (address as? Root).map(shown) ?? ""
        }
    }
}
