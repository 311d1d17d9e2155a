/// A framing that a configuration can name.
public struct FramingDescriptor: Sendable {
    /// The first word.
    public var name: String
    /// Reads the options, the words behind the first one.
    public var parse: Parse

    /// Reads options.
    public typealias Parse = @Sendable ([String]) throws(SettingProblem) -> StreamFraming

    /// Makes a descriptor.
    public init(name: String, parse: @escaping Parse) {
        self.name = name
        self.parse = parse
    }
}
