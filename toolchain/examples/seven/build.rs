fn main() {
    warpsmith_build::kernels("src/kernels/mod.rs");
}
