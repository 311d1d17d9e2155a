/// Why what a reload asks for cannot be done; nothing has changed then.
struct ReloadRefusal: Error {
    /// The place in the configuration, what is wrong, and what to do.
    var message: String
}
