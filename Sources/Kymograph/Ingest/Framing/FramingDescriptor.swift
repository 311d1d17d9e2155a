/// A framing that a configuration can name.
public struct FramingDescriptor: Sendable {
    /// The first word.
    package var name: String
    /// Reads the options, the words behind the first one.
    package var parse: Parse

    /// Reads options.
    package typealias Parse = @Sendable ([String]) throws(SettingProblem) -> StreamFraming

    /// Makes a descriptor.
    package init(name: String, parse: @escaping Parse) {
        self.name = name
        self.parse = parse
    }

    /// Describes a framing whose first word is `name`, which no other framing may have. `custom` gets the words behind
    /// it, which commas separate, and throws ``SettingProblem`` for words that mean nothing to it.
    public init(
        name: String, custom: @escaping @Sendable (_ options: [String]) throws(SettingProblem) -> CustomFraming
    ) {
        self.init(name: name) { (options) throws(SettingProblem) in .custom(try custom(options)) }
    }
}
