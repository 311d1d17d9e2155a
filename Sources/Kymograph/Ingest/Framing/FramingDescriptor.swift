/// A framing that a configuration can name.
package struct FramingDescriptor: Sendable {
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
}
