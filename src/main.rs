fn main() {
    ssr_mcp::sandbox::helper_main();
}
